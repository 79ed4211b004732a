import type { Clock } from '../../clock.js';
import type { Contact } from '../contact.js';
import { commandsOver } from '../commands.js';
import type { Ledger } from '../port.js';
import type { DuplicateKey, LedgerRecord } from '../record.js';
import { guarded, listedAs, stands } from '../transition.js';
import type { ListName } from '../transition.js';
import { Wakes } from '../wakes.js';
import { Facts } from './facts.js';
import type { StoreWarning } from './inspect.js';
import { BUCKETS, type Keys } from './keys.js';
import type { Runner } from './runner.js';
import { countRecords, recordsOf, scanRecords } from './scan.js';
import { INDEX } from './scripts.js';
import { ServerClock } from './server-clock.js';
import { Swaps } from './swaps.js';
import type { Watchman } from './watchman.js';

/** Members of the small index read in one step. */
const PAGE = 100;

export interface RedisLedger extends Ledger {
  readonly name: 'redis';
  /** Asks the store what endangers the guarantee; also asked by itself at start and every minute (event storeWarning). */
  inspect(): Promise<readonly StoreWarning[]>;
  /** Replicas of each master, as of the last look; undefined where INFO is forbidden to us. */
  replicas(): readonly (number | undefined)[];
}

export interface LedgerParts {
  readonly runner: Runner;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly contact: Contact;
  readonly watchman: Watchman;
  readonly patienceMs: number;
  readonly waitReplicas: number;
  readonly oneShot: boolean;
}

/** Puts the parts together into the port. */
export function redisPort({ runner, keys, clock, contact, watchman, patienceMs, waitReplicas, oneShot }: LedgerParts): RedisLedger {
  const waiting = new Wakes();
  const time = new ServerClock(clock);
  const facts = new Facts(runner, keys, clock);
  let subscribed = false;
  const swaps = new Swaps({
    runner, keys, time, clock, contact, patienceMs, waitReplicas,
    format: () => facts.format(),
    full: () => watchman.full,
    uptimeMs: () => (oneShot ? watchman.uptimeMs : undefined),
    changed: (key) => waiting.wake(key),
  });
  /** The server's clock, for what belongs to no record. */
  const serverNow = async (): Promise<number> => (await swaps.moment('00:')).now;

  const list = async (what: ListName, limit: number): Promise<LedgerRecord[]> => {
    const found: LedgerRecord[] = [];
    const members = await Promise.all(BUCKETS.map((bucket) => runner.run({ script: INDEX, keys: [keys.index(bucket)], args: ['0', String(PAGE - 1)] })));
    for (const [i, bucket] of BUCKETS.entries()) {
      let page = members[i] ?? [];
      for (let first = 0; page.length > 0 && found.length < limit;) {
        const at = await swaps.moment(`${bucket}:`);
        for (const record of await recordsOf(runner, swaps, page.map(String))) {
          if (found.length < limit && listedAs(record, at) === what) found.push(record);
        }
        if (page.length < PAGE) break;
        first += PAGE;
        page = await runner.run({ script: INDEX, keys: [keys.index(bucket)], args: [String(first), String(first + PAGE - 1)] });
      }
    }
    return found;
  };

  return {
    name: 'redis',
    ...commandsOver(swaps.apply),
    find: async (key) => {
      const record = await swaps.read(key);
      const at = guarded(record, await swaps.moment(key));
      const standing = stands(record, at.now);
      return standing === undefined ? undefined : { record: standing, now: at.now };
    },
    findReference: async function* (reference) {
      const seen = new Set<DuplicateKey>();
      for await (const { record } of scanRecords(runner, keys, swaps, { reference })) {
        if (!seen.has(record.key)) yield record;
        seen.add(record.key);
      }
    },
    point: (command) => swaps.point(command),
    watch: (key, wake) => {
      if (!subscribed) {
        subscribed = true;
        // a hint only: where it cannot be had, polling goes on
        runner.port.subscribe(keys.channel, (message) => waiting.wake(message)).catch(() => undefined);
      }
      return waiting.watch(key, wake);
    },
    list: (what, limit = Infinity) => list(what, limit),
    iterate: (cursor) => scanRecords(runner, keys, swaps, cursor === undefined ? {} : { cursor }),
    stats: async () => {
      await watchman.inspect();
      const bytes = watchman.states.reduce((sum, { usedMemory }) => sum + usedMemory, 0);
      const maxBytes = watchman.states.reduce((sum, { maxMemory }) => sum + maxMemory, 0);
      return { records: await countRecords(runner, keys), bytes, ...(maxBytes > 0 ? { maxBytes } : {}) };
    },
    meta: async () => facts.meta(await serverNow()),
    accept: async (command) => {
      await facts.accept(command, await serverNow());
      return facts.meta(await serverNow());
    },
    upgrade: async () => {
      await facts.upgrade();
      return facts.meta(await serverNow());
    },
    note: (note) => facts.note(note),
    notes: (shelf) => facts.notes(shelf),
    ping: async () => {
      const began = clock.monotonic();
      await swaps.readAll(['00:']);
      return { ms: clock.monotonic() - began };
    },
    warnings: () => watchman.warnings,
    inspect: () => watchman.inspect(),
    replicas: () => watchman.states.map(({ replicas }) => replicas),
    close: async () => {
      watchman.stop();
      runner.close();
      await runner.port.close();
    },
  };
}
