import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { LedgerHealth, type Health } from './admin/health.js';
import { metrics } from './admin/metrics.js';
import { systemClock, type Clock } from './clock.js';
import { composeOperate } from './compose-operate.js';
import { journalDrain } from './compose-journal.js';
import { Generations } from './compose-generations.js';
import { composeRoutes } from './compose-routes.js';
import type { Config } from './config/config.js';
import type { MessageHandler } from './delivery/backend-handler.js';
import { createSpool } from './delivery/spool.js';
import { Waiting } from './delivery/wait.js';
import { plain } from './exchange.js';
import { Events } from './events.js';
import { httpHandler, type Door, type Handler } from './http/handler.js';
import { peerReader } from './http/peer.js';
import { respond } from './http/respond.js';
import { openJournal } from './ledger/journal.js';
import { thisProcess } from './ledger/owner.js';
import type { Ledger } from './ledger/port.js';
import type { Walk } from './walk.js';

export interface OnceOptions {
  /** The configuration, as loadConfig or defineConfig give it. */
  readonly config: Config;
  /** An open ledger: redisLedger, lmdbLedger, or memoryLedger for tests. It is closed by `close` of this instance. */
  readonly ledger: Ledger;
  readonly clock?: Clock;
  /** Where events go; one is made where none is given. */
  readonly events?: Events;
  /** Role endpoint: takes the messages in place of the configuration's backend. */
  readonly handler?: MessageHandler;
}

export interface Once {
  /** Mounts in Express 4 and 5, or as a listener of node:http. */
  readonly handler: Handler;
  health(): Promise<Health>;
  readonly events: Events;
  readonly ledger: Ledger;
  readonly metrics: Registry;
  /** What this process is busy with now. */
  load(): Promise<Load>;
  /** What the last look at the ledger found, without looking again. */
  readonly ledgerHealth: LedgerHealth;
  /** False from the start of `close` on. */
  ready(): boolean;
  /** Puts another configuration in force; what is in progress keeps its own. The ledger stays. */
  reload(config: Config): void;
  /** Takes nothing new, waits for attempts in progress (at most graceMs, default times.shutdownGrace), closes the ledger. */
  close(options?: { graceMs?: number }): Promise<void>;
}

export interface Load {
  /** Attempts in progress. */
  readonly underWay: number;
  /** Copies that wait for one of them. */
  readonly waiting: number;
  /** Bytes of bodies kept. */
  readonly spool: { readonly memoryBytes: number; readonly diskBytes: number };
  /** Replies that were sent and are not settled yet. */
  readonly journal: number;
}

/** How often the ledger's health is looked at without traffic, ms. */
const HEALTH_EVERY = 10_000;
/** How long the outcomes of attempts that were cut off by the end may take to reach the ledger, ms. */
const LAST_WORDS = 1_000;

/** Puts all parts together: the only place that knows every adapter. */
export function compose(options: OnceOptions): Once {
  const { ledger, clock = systemClock, events = new Events() } = options;
  let { config } = options;
  const spool = createSpool({ limits: config.limits, directory: config.spool, clock });
  const parts = { clock, spool, ...(options.handler === undefined ? {} : { handler: options.handler }) };
  const generations = new Generations(composeRoutes(config, parts));
  const owner = thisProcess(config.node ?? hostname());
  const journal = openJournal({ directory: config.journal });
  const health = new LedgerHealth(ledger, events);
  const stop = new AbortController();
  let closing = false;
  const walk: Walk = {
    node: owner.node,
    owner, clock, events, ledger, spool, journal,
    limits: config.limits,
    waiting: new Waiting(ledger, clock, config.limits, config.times.poll),
    underWay: new Set(),
    stop: stop.signal,
    mayDecide: () => operate.mayDecide(),
    bypassed: () => operate.bypassed(),
    fromGap: (message) => operate.fromGap(message),
  };
  const load = async (): Promise<Load> => ({
    underWay: walk.underWay.size,
    waiting: walk.waiting.count,
    spool: { memoryBytes: spool.counters.memoryBytes, diskBytes: spool.counters.diskBytes },
    journal: await journal.count(),
  });
  const operate = composeOperate({ config, node: owner.node, ledger, events, clock, load, pingMs: () => health.pingMs });
  const registry = metrics(events, {
    waiting: () => walk.waiting.count,
    underWay: () => walk.underWay.size,
    spooled: () => ({ memory: spool.counters.memoryBytes, disk: spool.counters.diskBytes }),
    ledgerUp: () => health.up,
  });
  // Law 2: the journal is settled at start, before new claims, and afterwards as soon as the ledger can be reached again.
  const drainJournal = journalDrain({ journal, ledger, events, clock, pauseMs: config.times.poll, stop: stop.signal });
  const settled = Promise.all([drainJournal(), operate.ready]);
  events.on('journaled', () => void drainJournal());
  events.on('ledger', ({ up }) => {
    if (up) void drainJournal();
  });
  // Asked at once, so that a start without a ledger is said and not found out by the first message.
  void health.check();
  void health.watch(clock, HEALTH_EVERY, stop.signal);

  const door: Door = {
    walk,
    pace: { idleMs: config.times.bodyIdle, minRate: config.limits.minRate },
    peer: peerReader(config.trustProxy),
    route: (path) => generations.route(path),
    enter: (route) => generations.enter(route),
  };
  const handle = httpHandler(door);
  const handler: Handler = (request, response, next) => {
    if (closing) {
      void respond(response, plain(503, 'This node is shutting down; try again.\n', [['Retry-After', '1'], ['Connection', 'close']]));
      return;
    }
    void settled.then(() => handle(request, response, next));
  };

  return {
    handler, events, ledger,
    metrics: registry,
    ledgerHealth: health,
    load,
    health: () => health.read(closing),
    ready: () => !closing,
    reload: (next) => {
      const oldRulesEnded = generations.replace(composeRoutes(next, parts));
      config = next;
      operate.reload(next, oldRulesEnded);
    },
    close: async ({ graceMs = config.times.shutdownGrace } = {}) => {
      closing = true;
      const timer = new AbortController();
      await Promise.race([allDone(walk.underWay), clock.sleep(graceMs, timer.signal)]);
      timer.abort();
      stop.abort();
      await generations.close();
      // what was cut off has an outcome now, and the record should say so
      const said = new AbortController();
      await Promise.race([allDone(walk.underWay), clock.sleep(LAST_WORDS, said.signal)]);
      said.abort();
      await journal.close();
      await operate.close();
      await ledger.close();
    },
  };
}

async function allDone(underWay: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled([...underWay]);
}
