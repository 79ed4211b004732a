import { open } from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';
import { As4OnceError } from '../../errors.js';
import { countInPlace, decodeRecord, encodeRecord, keptUntilOf, knownFormat, newestFormat, versionOf } from '../codec.js';
import { shelfKeptUntil } from '../notes.js';
import type { Note } from '../port.js';
import type { DuplicateKey, LedgerRecord } from '../record.js';
import { indexed, keptUntil } from '../transition.js';

/** Layout of the databases; a newer one is refused (G9). */
const LAYOUT = '1';
/** A floor of the clock is worth a write when it is older than this, ms. */
const FLOOR_STEP = 1_000;

/** What may be forgotten when: a record by its key, a shelf of notes by `note:` and its name. */
type Expiry = [until: number, key: DuplicateKey];
/** The empty name holds when the shelf may be forgotten. */
type NoteKey = [shelf: string, name: string];
const SHELF = 'note:';

/** The LMDB files: records, what is swept when, the small index, and the ledger's own facts. Knows no states. */
export class Store {
  readonly #root: RootDatabase<Buffer, string>;
  readonly #records: Database<Buffer, string>;
  readonly #expiry: Database<Buffer, Expiry>;
  readonly #listed: Database<Buffer, string>;
  readonly #facts: Database<Buffer, string>;
  readonly #notes: Database<Buffer, NoteKey>;
  #floor = 0;

  constructor(path: string) {
    // The defaults of every option that is not named here are the safe ones; a wrong mapSize, for one, crashes.
    // With batching by event turn a failed commit also rejects a promise that LMDB keeps to itself: Node ends the process.
    const options = { encoding: 'binary', overlappingSync: false, eventTurnBatching: false, noSubdir: false, maxDbs: 8, maxReaders: 512 } as const;
    this.#root = open<Buffer, string>({ path, ...options });
    this.#records = this.#root.openDB<Buffer, string>('records', { encoding: 'binary' });
    this.#expiry = this.#root.openDB<Buffer, Expiry>('expiry', { encoding: 'binary' });
    this.#listed = this.#root.openDB<Buffer, string>('listed', { encoding: 'binary' });
    this.#facts = this.#root.openDB<Buffer, string>('facts', { encoding: 'binary' });
    this.#notes = this.#root.openDB<Buffer, NoteKey>('notes', { encoding: 'binary' });
    this.#floor = Number(this.fact('clock') ?? 0);
  }

  /** Runs `body` in a write transaction, together with others of this moment; resolves when it is on the disk. */
  async write<T>(body: () => T): Promise<T> {
    // async also for what LMDB throws at once, such as after its close
    return await this.#root.transaction(body);
  }

  /** Makes the ledger's identity where there is none. */
  async found(id: string, now: number): Promise<void> {
    await this.write(() => {
      if (this.fact('id') !== undefined) return;
      this.#facts.putSync('id', Buffer.from(id));
      this.#facts.putSync('created', Buffer.from(String(now)));
      this.#facts.putSync('layout', Buffer.from(LAYOUT));
      this.#facts.putSync('format', Buffer.from(newestFormat()));
    });
    knownFormat(this.format);
    if (this.fact('layout') !== LAYOUT) {
      throw new As4OnceError('RECORD_UNREADABLE', `the ledger's layout ${this.fact('layout')} is newer than this release reads`);
    }
  }

  fact(name: string): string | undefined {
    return this.#facts.get(name)?.toString();
  }

  /** What records are written in; a ledger of the first release does not say it. */
  get format(): string {
    return this.fact('format') ?? '1';
  }

  /** Only within `write`. */
  putFact(name: 'format' | 'accepted', value: string): void {
    this.#facts.putSync(name, Buffer.from(value));
  }

  get settles(): number {
    return Number(this.fact('settles') ?? 0);
  }

  /** Only within `write`. */
  countSettle(): void {
    this.#facts.putSync('settles', Buffer.from(String(this.settles + 1)));
  }

  /**
   * What the clock must not fall below, as it was at the last write of this process. A floor of a moment ago will do: it
   * is there for a clock that was set back, which a running process sees by itself, and a new one begins with a write.
   */
  get floor(): number {
    return this.#floor;
  }

  /** Only within `write`. Reads what other processes have written meanwhile, too. */
  raiseFloor(now: number): void {
    this.#floor = Number(this.fact('clock') ?? 0);
    if (now - this.#floor < FLOOR_STEP) return;
    this.#facts.putSync('clock', Buffer.from(String(now)));
    this.#floor = now;
  }

  read(key: DuplicateKey): LedgerRecord | undefined {
    const bytes = this.#records.get(key);
    return bytes === undefined ? undefined : decodeRecord(bytes);
  }

  /** The version in force, 0 for none; cheaper than the whole record. */
  version(key: DuplicateKey): number {
    const bytes = this.#records.get(key);
    return bytes === undefined ? 0 : versionOf(bytes);
  }

  /** Whether a record is kept beyond `now`; cheaper than the whole record. False may also mean that it is to be read. */
  keeps(key: DuplicateKey, now: number): boolean {
    const bytes = this.#records.get(key);
    return bytes !== undefined && keptUntilOf(bytes) > now;
  }

  /** Only within `write`. Keeps sweep and index in step with the record. Who puts many reads `format` once. */
  put(before: LedgerRecord | undefined, next: LedgerRecord, format = this.format): void {
    const until = keptUntil(next);
    if (before === undefined || keptUntil(before) !== until) {
      if (before !== undefined) this.#expiry.removeSync([keptUntil(before), next.key]);
      this.#expiry.putSync([until, next.key], EMPTY);
    }
    if (indexed(next)) this.#listed.putSync(next.key, EMPTY);
    else if (before !== undefined && indexed(before)) this.#listed.removeSync(next.key);
    this.#records.putSync(next.key, encodeRecord(next, format));
  }

  /** Only within `write`. */
  count(key: DuplicateKey, count: { copies: number; lastSeen: number }): void {
    const bytes = this.#records.get(key);
    if (bytes !== undefined) this.#records.putSync(key, countInPlace(bytes, count));
  }

  /** Only within `write`. Removes what may be forgotten at `now`; false when there may be more. */
  sweep(now: number, limit: number): boolean {
    const due = [...this.#expiry.getKeys({ start: [0, ''], end: [now, HIGHEST], limit })] as Expiry[];
    for (const entry of due) {
      const [, key] = entry;
      if (key.startsWith(SHELF)) this.#forgetShelf(key.slice(SHELF.length), now);
      const record = this.read(key);
      if (record !== undefined && keptUntil(record) <= now) {
        this.#records.removeSync(key);
        this.#listed.removeSync(key);
      }
      this.#expiry.removeSync(entry);
    }
    return due.length < limit;
  }

  /** Only within `write`. */
  note({ shelf, entries, keptMs }: Note, now: number): void {
    // a shelf whose time is over, but that no sweep has met yet, begins anew
    this.#forgetShelf(shelf, now);
    for (const [name, text] of Object.entries(entries)) {
      if (text === null) this.#notes.removeSync([shelf, `.${name}`]);
      else this.#notes.putSync([shelf, `.${name}`], Buffer.from(text));
    }
    const standing = this.#shelfUntil(shelf);
    const until = shelfKeptUntil(standing, now, keptMs);
    if (until === standing) return;
    if (standing !== undefined) this.#expiry.removeSync([standing, SHELF + shelf]);
    this.#expiry.putSync([until, SHELF + shelf], EMPTY);
    this.#notes.putSync([shelf, ''], Buffer.from(String(until)));
  }

  notes(shelf: string, now: number): Map<string, string> {
    const found = new Map<string, string>();
    if ((this.#shelfUntil(shelf) ?? 0) <= now) return found;
    for (const { key: [, name], value } of this.#notes.getRange({ start: [shelf, '.'], end: [shelf, HIGHEST] })) {
      found.set(name.slice(1), value.toString());
    }
    return found;
  }

  #shelfUntil(shelf: string): number | undefined {
    const text = this.#notes.get([shelf, '']);
    return text === undefined ? undefined : Number(text.toString());
  }

  #forgetShelf(shelf: string, now: number): void {
    const until = this.#shelfUntil(shelf);
    if (until === undefined || until > now) return;
    this.#expiry.removeSync([until, SHELF + shelf]);
    for (const key of [...this.#notes.getKeys({ start: [shelf, ''], end: [shelf, HIGHEST] })]) this.#notes.removeSync(key);
  }

  /** A copy made while others write; LMDB reads one moment of the whole. */
  async copyTo(folder: string): Promise<void> {
    await this.#root.backup(folder, true);
  }

  /** Records in the order of their keys, from `after` on, read in small steps: a long cursor would pin freed pages. */
  * records(range: { after?: string; start?: string; end?: string } = {}): Generator<LedgerRecord> {
    let { after } = range;
    for (;;) {
      const keys = this.#keys(this.#records, { ...range, ...(after === undefined ? {} : { after }) });
      for (const key of keys) {
        const record = this.read(key);
        if (record !== undefined) yield record;
      }
      if (keys.length < STEP) return;
      after = keys.at(-1);
    }
  }

  * listed(): Generator<LedgerRecord> {
    for (let after: string | undefined; ;) {
      const keys = this.#keys(this.#listed, after === undefined ? {} : { after });
      for (const key of keys) {
        const record = this.read(key);
        if (record !== undefined) yield record;
      }
      if (keys.length < STEP) return;
      after = keys.at(-1);
    }
  }

  #keys(database: Database<Buffer, string>, { after, start, end }: { after?: string; start?: string; end?: string }): string[] {
    return [...database.getKeys({
      ...(after === undefined ? (start === undefined ? {} : { start }) : { start: after, exclusiveStart: true }),
      ...(end === undefined ? {} : { end }),
      limit: STEP,
    })];
  }

  /** Records, and bytes of the pages that hold something. The file itself never shrinks. */
  size(): { readonly records: number; readonly bytes: number } {
    const all = [this.#records, this.#expiry, this.#listed, this.#facts, this.#notes].map((database) => database.getStats() as Stats);
    const bytes = all.reduce((sum, { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages }) =>
      sum + pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages), 0);
    return { records: all[0]?.entryCount ?? 0, bytes };
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}

interface Stats {
  readonly entryCount: number;
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

const EMPTY = Buffer.alloc(0);
const STEP = 200;
/** After every key of hexadecimal digits and colons. */
const HIGHEST = '\u007f';
