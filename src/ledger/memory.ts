import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { newestFormat } from './codec.js';
import { commandsOver } from './commands.js';
import type { Apply } from './commands.js';
import { Shelves } from './notes.js';
import type { Acceptance, Ledger, LedgerMeta, LedgerStats } from './port.js';
import type { DuplicateKey, LedgerRecord, State } from './record.js';
import { guarded, indexed, listedAs, point, primariesOf, settles, stands, transition, wakes } from './transition.js';
import type { Moment } from './transition.js';
import { Wakes } from './wakes.js';

export interface MemoryOptions {
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/** The transition over a Map: for tests and demonstrations. Everything is forgotten when the process ends. */
export function memoryLedger({ clock = systemClock }: MemoryOptions = {}): Ledger {
  const records = new Map<DuplicateKey, LedgerRecord>();
  const waiting = new Wakes();
  const shelves = new Shelves();
  let accepted: Acceptance | undefined;
  const started = clock.monotonic();
  const born = Math.floor(clock.now());
  const id = clock.id();
  let last = born;
  let count = 0;
  let open = true;

  const moment = (): Moment => {
    if (!open) throw new As4OnceError('LEDGER_DOWN', 'the ledger was closed');
    last = Math.max(last, Math.floor(clock.now()));
    return { now: last, contactMs: clock.monotonic() - started, isDead: () => false };
  };
  const read = (key: DuplicateKey, at: Moment): LedgerRecord | undefined => {
    const record = records.get(key);
    return stands(record, guarded(record, at).now);
  };
  const write = (before: LedgerRecord | undefined, next: LedgerRecord): void => {
    records.set(next.key, next);
    if (settles(before, next)) count += 1;
    if (wakes(before, next)) waiting.wake(next.key);
  };
  const apply: Apply = async (name, key, command) => {
    const at = moment();
    const record = read(key, at);
    const step = transition(record, name, command, at);
    if (step.next !== undefined) write(record, step.next);
    else if (step.count !== undefined && record !== undefined) records.set(key, { ...record, ...step.count });
    return step.answer;
  };
  const standing = function* (at: Moment): Generator<LedgerRecord> {
    for (const [key, record] of records) {
      if (stands(record, guarded(record, at).now) === undefined) records.delete(key);
      else yield record;
    }
  };

  const meta = (): LedgerMeta => {
    const { now } = moment();
    const format = newestFormat();
    return { id, created: born, settles: count, now, format, newestFormat: format, ...(accepted === undefined ? {} : { accepted }) };
  };

  return {
    name: 'memory',
    ...commandsOver(apply),
    async find(key) {
      const at = moment();
      const record = read(key, at);
      return record === undefined ? undefined : { record, now: guarded(record, at).now };
    },
    async *findReference(prefix) {
      for (const record of [...standing(moment())]) if (record.key.startsWith(`${prefix}:`)) yield record;
    },
    async point(command) {
      const at = moment();
      const pointer = read(command.key, at);
      const records = primariesOf(pointer, command).map((key) => read(key, at));
      const step = point(pointer, command, records, guarded(pointer, at));
      if (step.next !== undefined) write(pointer, step.next);
      return step.answer;
    },
    watch: (key, wake) => waiting.watch(key, wake),
    async list(what, limit = Infinity) {
      const at = moment();
      const found = [...standing(at)].filter((record) => indexed(record) && listedAs(record, at) === what);
      return found.slice(0, limit);
    },
    async *iterate(cursor) {
      const keys = [...standing(moment())].map(({ key }) => key).toSorted();
      for (const key of keys) {
        const record = cursor === undefined || key > cursor ? read(key, moment()) : undefined;
        if (record !== undefined) yield { record, cursor: key };
      }
    },
    async stats(): Promise<LedgerStats> {
      const byState: Partial<Record<State, number>> = {};
      let bytes = 0;
      let all = 0;
      for (const record of standing(moment())) {
        all += 1;
        bytes += record.reply?.deflated.length ?? 0;
        if (record.pointer === undefined) byState[record.state] = (byState[record.state] ?? 0) + 1;
      }
      return { records: all, bytes, byState };
    },
    meta: async () => meta(),
    async accept(command) {
      accepted = { ...command, id: clock.id(), when: moment().now };
      return meta();
    },
    upgrade: async () => meta(),
    note: async (command) => shelves.note(command, moment().now),
    notes: async (shelf) => shelves.notes(shelf, moment().now),
    async ping() {
      moment();
      return { ms: 0 };
    },
    async close() {
      open = false;
    },
  };
}
