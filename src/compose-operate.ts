import { packageVersion } from './admin/package-root.js';
import { Rates } from './admin/rates.js';
import type { Clock } from './clock.js';
import type { Config } from './config/config.js';
import { configDigest } from './config/redact.js';
import type { Events } from './events.js';
import type { Ledger } from './ledger/port.js';
import { extendWindows, type Extending } from './operate/extend-windows.js';
import { BypassWatch, type Bypass } from './operate/bypass.js';
import { keepTallies, runName, WRITE_EVERY } from './operate/keep-tallies.js';
import { dropNode, reportNode, type NodeReport } from './operate/nodes.js';
import { Sentinel, type Behind } from './operate/sentinel.js';
import type { Walk } from './walk.js';

export interface OperateParts {
  readonly config: Config;
  readonly node: string;
  readonly ledger: Ledger;
  readonly events: Events;
  readonly clock: Clock;
  /** What the process is busy with. */
  load(): Promise<{ readonly waiting: number; readonly underWay: number; readonly journal: number }>;
  /** Round trip to the ledger, ms, as it was seen last. */
  pingMs(): number | undefined;
}

/** What operators impose on a server, and what it tells them through the ledger. */
export interface Operate extends Required<Pick<Walk, 'mayDecide' | 'bypassed' | 'fromGap'>> {
  /** Resolves after the first look at the ledger: nothing is decided before it. */
  readonly ready: Promise<void>;
  readonly behind: Behind | undefined;
  readonly bypass: Bypass | undefined;
  /** `oldRulesEnded`: when the last exchange has ended that came by an earlier configuration. */
  reload(config: Config, oldRulesEnded: Promise<void>): void;
  close(): Promise<void>;
}

export function composeOperate(parts: OperateParts): Operate {
  const { node, ledger, events, clock } = parts;
  const {
    state,
    role,
    ledger: { strict },
  } = parts.config;
  const by = runName(clock);
  const started = clock.now();
  const version = packageVersion();
  let digest = configDigest(parts.config);
  // a ledger in memory is another one at every start, and nobody is surprised
  const sentinel =
    ledger.name === 'memory' ? undefined : new Sentinel({ ledger, folder: state, node, clock, events, strict });
  const bypass = new BypassWatch(state, clock, events);
  const rates = new Rates(events, clock);
  const tallies = keepTallies({ events, ledger, folder: state, clock, by });
  const stop = new AbortController();
  const ready = sentinel?.look() ?? Promise.resolve();
  void ready.then(() => sentinel?.watch(stop.signal));
  let extending = new AbortController();
  extend(parts.config);
  void bypass.watch(stop.signal);
  const reporting = reportUntil(stop.signal);

  return {
    ready,
    mayDecide: () => sentinel?.mayDecide(),
    bypassed: () => bypass.current !== undefined,
    fromGap: (message) => sentinel?.fromGap(message) === true,
    get behind() {
      return sentinel?.behind;
    },
    get bypass() {
      return bypass.current;
    },
    reload: (next, oldRulesEnded) => {
      digest = configDigest(next);
      extend(next, { oldRulesMs: next.times.answerBy, oldRulesEnded });
    },
    close: async () => {
      stop.abort();
      await Promise.all([tallies.close(), reporting]);
      await dropNode(ledger, by).catch(() => undefined);
    },
  };

  /** The process has one name as long as it listens in one place: a restart goes on where it was. */
  function extend(config: Config, old: Pick<Extending, 'oldRulesMs' | 'oldRulesEnded'> = {}): void {
    extending.abort();
    extending = new AbortController();
    const { listen } = config;
    const name = listen === undefined ? node : `${node} ${listen.host}:${listen.port}`;
    const signal = AbortSignal.any([stop.signal, extending.signal]);
    void ready.then(() => extendWindows({ ledger, clock, events, by: name, ...old }, config, signal));
  }

  async function reportUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await report().catch(() => undefined);
      await clock.sleep(WRITE_EVERY, signal);
    }
  }

  async function report(): Promise<void> {
    const { waiting, underWay, journal } = await parts.load();
    const ledgerMs = parts.pingMs();
    const { current } = bypass;
    const lastMinute = Object.fromEntries(
      rates
        .answers()
        .filter((one) => one.lastMinute > 0)
        .map((one) => [one.answer, one.lastMinute]),
    );
    const told: NodeReport = {
      node,
      pid: process.pid,
      version,
      role,
      config: digest,
      started,
      at: clock.now(),
      lastMinute,
      waiting,
      underWay,
      journal,
      ...(ledgerMs === undefined ? {} : { ledgerMs }),
      ...(sentinel?.behind === undefined ? {} : { behind: sentinel.behind.reason }),
      ...(current === undefined ? {} : { bypass: `until ${new Date(current.until).toISOString()}: ${current.reason}` }),
    };
    await reportNode(ledger, by, told);
  }
}
