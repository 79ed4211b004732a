import { uptime } from 'node:os';
import { systemClock, type Clock } from '../../clock.js';
import { As4OnceError } from '../../errors.js';
import type { Events } from '../../events.js';
import { newestFormat } from '../codec.js';
import { commandsOver, type Apply } from '../commands.js';
import { Contact } from '../contact.js';
import { checkNote } from '../notes.js';
import { beforeThisBoot, provenDead } from '../owner.js';
import type { Acceptance, Claim, Ledger, LedgerMeta, StoreWarning } from '../port.js';
import type { DuplicateKey, LedgerRecord, Owner } from '../record.js';
import { guarded, listedAs, point, primariesOf, settles, stands, transition, wakes } from '../transition.js';
import type { Moment } from '../transition.js';
import { Changes } from './changes.js';
import { Copies } from './copies.js';
import { nearlyFull, prepareFolder } from './file-system.js';
import { mustBeLedger } from './intact.js';
import { LedgerClock } from './ledger-clock.js';
import { Pulse } from './pulse.js';
import { Room } from './room.js';
import { Store } from './store.js';
import { sweep } from './sweep.js';
import { asLedgerError, writeWithin } from './writes.js';

export interface LmdbOptions {
  /** Folder of the ledger, on a local disk; made where it is missing. Any number of processes of one machine may share it. */
  readonly path: string;
  /** For tests; default the machine's clock. */
  readonly clock?: Clock;
  readonly events?: Events;
  /** Take no new claims once the records take so many bytes; everything else goes on. */
  readonly maxBytes?: number;
  /** A command of an operator: leases are judged by how long the machine has been up, not by this process' own contact. */
  readonly oneShot?: boolean;
  /** Refuse a folder that a restart of the machine forgets. */
  readonly strict?: boolean;
  /** How long a write may wait for other processes, ms. Default 5,000. */
  readonly commandTimeout?: number;
}

/**
 * The embedded ledger (LMDB): nothing to install, durable before it answers, atomic across the processes of a machine.
 * @throws As4OnceError CONFIG_INVALID where the folder does not lie on a local disk, or with `strict` on none at all; LEDGER_DOWN where it cannot be opened, RECORD_UNREADABLE where it is damaged.
 */
export async function lmdbLedger(options: LmdbOptions): Promise<Ledger> {
  const { clock = systemClock, events, commandTimeout = 5_000, strict = false } = options;
  const folder = prepareFolder(options.path);
  const warnings: readonly StoreWarning[] = folder.forgetful
    ? [{ code: 'STORE_IN_MEMORY', text: `${options.path} lies in memory: a restart of the machine loses the ledger` }]
    : [];
  const [forgetful] = warnings;
  if (strict && forgetful !== undefined) throw new As4OnceError('CONFIG_INVALID', `ledger.strict refuses a store that may forget: ${forgetful.text}`);
  mustBeLedger(folder.path);
  const store = opened(folder.path);
  const contact = new Contact(clock);
  const time = new LedgerClock(clock, () => contact.lose());
  try {
    await store.found(clock.id(), time.now(store.floor));
  } catch (error) {
    await store.close();
    throw await asLedgerError(error);
  }
  contact.confirm();
  for (const warning of warnings) events?.emit('storeWarning', warning);
  return new Embedded({ ...options, clock, commandTimeout, warnings }, folder.path, store, contact, time).port();
}

function opened(path: string): Store {
  try {
    return new Store(path);
  } catch (cause) {
    throw new As4OnceError('LEDGER_DOWN', `the embedded ledger in ${path} cannot be opened: ${(cause as Error).message}`, { cause });
  }
}

type Settings = LmdbOptions & { readonly clock: Clock; readonly commandTimeout: number; readonly warnings: readonly StoreWarning[] };

class Embedded {
  readonly #settings: Settings;
  readonly #store: Store;
  readonly #contact: Contact;
  readonly #time: LedgerClock;
  readonly #copies = new Copies();
  readonly #changes: Changes;
  readonly #pulse: Pulse;
  readonly #room: Room;
  #open = true;

  constructor(settings: Settings, folder: string, store: Store, contact: Contact, time: LedgerClock) {
    this.#settings = settings;
    this.#store = store;
    this.#contact = contact;
    this.#time = time;
    this.#changes = new Changes(folder, (key) => (this.#open ? store.version(key) : 0));
    this.#room = new Room(settings.clock, () => this.#fullBecause(folder));
    this.#pulse = new Pulse({
      slept: () => contact.lose(),
      flush: () => this.#flush(),
      sweep: () => sweep(store, () => this.#now(), settings.commandTimeout),
    });
  }

  #fullBecause(folder: string): string | undefined {
    const { maxBytes } = this.#settings;
    if (maxBytes !== undefined && this.#store.size().bytes >= maxBytes) return `its records take ledger.maxBytes (${maxBytes})`;
    return nearlyFull(folder) ? 'its disk is nearly full' : undefined;
  }

  #ensureOpen(): void {
    if (!this.#open) throw new As4OnceError('LEDGER_DOWN', 'the ledger was closed');
  }

  #now(): number {
    return this.#time.now(this.#store.floor);
  }

  #moment(): Moment {
    this.#ensureOpen();
    const now = this.#now();
    if (this.#contact.lost) this.#contact.confirm();
    const contactMs = this.#settings.oneShot === true ? uptime() * 1_000 : this.#contact.lastedMs();
    return { now, contactMs, isDead: isDeadHere };
  }

  #read(key: DuplicateKey, at: Moment): LedgerRecord | undefined {
    const record = this.#store.read(key);
    if (record === undefined) return undefined;
    const counted = this.#copies.over(record);
    return stands(counted, guarded(counted, at).now);
  }

  /** Only within a transaction. `standing` is the stored record, swept or not, so that its traces are replaced too. */
  #put(before: LedgerRecord | undefined, next: LedgerRecord, now: number): void {
    this.#store.put(before ?? this.#store.read(next.key), next);
    this.#copies.written(next.key);
    if (settles(before, next)) this.#store.countSettle();
    this.#store.raiseFloor(now);
  }

  readonly #apply: Apply = async (name, key, command) => {
    const first = this.#moment();
    if (name === 'claim') {
      // a copy that changes nothing is answered from what is committed, with no transaction of its own
      const record = this.#read(key, first);
      const seen = record === undefined && (command as Claim).take !== false ? undefined : transition(record, name, command, first);
      if (seen !== undefined && seen.next === undefined) {
        if (seen.count !== undefined && record !== undefined) this.#copies.add(key, seen.count.lastSeen);
        return seen.answer;
      }
      if (record?.token !== (command as Claim).token) this.#room.check();
    }
    const within = name === 'claim' ? Math.min(this.#settings.commandTimeout, (command as Claim).notAfterMs) : this.#settings.commandTimeout;
    const { answer, woken } = await writeWithin(this.#store, within, () => {
      const at = this.#moment();
      const record = this.#read(key, at);
      const step = transition(record, name, command, at);
      if (step.next !== undefined) this.#put(record, step.next, at.now);
      else if (step.count !== undefined && record !== undefined) this.#copies.add(key, step.count.lastSeen);
      return { answer: step.answer, woken: step.next !== undefined && wakes(record, step.next) };
    });
    if (woken) this.#changes.wake(key);
    return answer;
  };

  /** One transaction for all of them: what each costs by itself is twice what it takes here. */
  async #adoptAll(records: readonly LedgerRecord[]): Promise<readonly boolean[]> {
    this.#ensureOpen();
    return await writeWithin(this.#store, this.#settings.commandTimeout, () => {
      const at = this.#moment();
      const { format } = this.#store;
      this.#store.raiseFloor(at.now);
      return records.map((record) => {
        // most of an import that is run again stands
        if (this.#store.keeps(record.key, at.now)) return false;
        const stored = this.#store.read(record.key);
        const { next, answer } = transition(stored, 'adopt', record, at);
        if (next !== undefined) {
          this.#store.put(stored, next, format);
          this.#copies.written(next.key);
          if (settles(undefined, next)) this.#store.countSettle();
        }
        return answer;
      });
    });
  }

  /** Writes the copies that were only counted. */
  async #flush(): Promise<void> {
    if (this.#copies.size === 0) return;
    await writeWithin(this.#store, this.#settings.commandTimeout, () => {
      for (const [key, { copies, lastSeen }] of this.#copies.take()) {
        const record = this.#store.read(key);
        if (record !== undefined) this.#store.count(key, { copies: record.copies + copies, lastSeen: Math.max(record.lastSeen, lastSeen) });
      }
    });
  }

  port(): Ledger {
    return {
      name: 'embedded',
      ...commandsOver(this.#apply),
      adoptAll: (records) => this.#adoptAll(records),
      find: async (key) => {
        const at = this.#moment();
        const record = this.#read(key, at);
        return record === undefined ? undefined : { record, now: guarded(record, at).now };
      },
      findReference: (prefix) => this.#range({ start: `${prefix}:`, end: `${prefix};` }),
      point: async (command) => {
        this.#ensureOpen();
        return writeWithin(this.#store, this.#settings.commandTimeout, () => {
          const at = this.#moment();
          const pointer = this.#read(command.key, at);
          const records = primariesOf(pointer, command).map((primary) => this.#read(primary, at));
          const step = point(pointer, command, records, guarded(pointer, at));
          if (step.next !== undefined) this.#put(pointer, step.next, at.now);
          return step.answer;
        });
      },
      watch: (key, wake) => this.#changes.watch(key, wake),
      list: async (what, limit = Infinity) => {
        const at = this.#moment();
        const found: LedgerRecord[] = [];
        for (const record of this.#store.listed()) {
          if (found.length >= limit) break;
          if (stands(record, at.now) !== undefined && listedAs(record, at) === what) found.push(this.#copies.over(record));
        }
        return found;
      },
      iterate: (cursor) => this.#iterate(cursor),
      stats: async () => {
        this.#ensureOpen();
        const { maxBytes } = this.#settings;
        return { ...this.#store.size(), ...(maxBytes === undefined ? {} : { maxBytes }) };
      },
      meta: async () => this.#meta(),
      accept: (command) => this.#change(() => {
        const accepted: Acceptance = { ...command, id: this.#settings.clock.id(), when: this.#now() };
        this.#store.putFact('accepted', JSON.stringify(accepted));
      }),
      upgrade: () => this.#change(() => this.#store.putFact('format', newestFormat())),
      note: async (command) => {
        checkNote(command);
        this.#ensureOpen();
        await writeWithin(this.#store, this.#settings.commandTimeout, () => this.#store.note(command, this.#now()));
      },
      notes: async (shelf) => {
        this.#ensureOpen();
        return this.#store.notes(shelf, this.#now());
      },
      copyTo: async (folder) => {
        this.#ensureOpen();
        await this.#flush();
        await this.#store.copyTo(folder);
      },
      warnings: () => this.#settings.warnings,
      ping: async () => {
        this.#ensureOpen();
        const began = this.#settings.clock.monotonic();
        await writeWithin(this.#store, this.#settings.commandTimeout, () => this.#store.raiseFloor(this.#now()));
        return { ms: this.#settings.clock.monotonic() - began };
      },
      close: () => this.#close(),
    };
  }

  #meta(): LedgerMeta {
    this.#ensureOpen();
    const accepted = this.#store.fact('accepted');
    return {
      id: this.#store.fact('id') ?? '',
      created: Number(this.#store.fact('created')),
      settles: this.#store.settles,
      now: this.#now(),
      format: this.#store.format,
      newestFormat: newestFormat(),
      ...(accepted === undefined ? {} : { accepted: JSON.parse(accepted) as Acceptance }),
    };
  }

  async #change(body: () => void): Promise<LedgerMeta> {
    this.#ensureOpen();
    await writeWithin(this.#store, this.#settings.commandTimeout, body);
    return this.#meta();
  }

  async * #range(range: { start?: string; end?: string; after?: string }): AsyncGenerator<LedgerRecord> {
    const at = this.#moment();
    for (const record of this.#store.records(range)) {
      if (stands(record, at.now) !== undefined) yield this.#copies.over(record);
      this.#ensureOpen();
    }
  }

  async * #iterate(cursor?: string): AsyncGenerator<{ record: LedgerRecord; cursor: string }> {
    for await (const record of this.#range(cursor === undefined ? {} : { after: cursor })) yield { record, cursor: record.key };
  }

  async #close(): Promise<void> {
    if (!this.#open) return;
    this.#pulse.stop();
    this.#changes.close();
    await this.#flush().catch(() => undefined);
    this.#open = false;
    await this.#store.close();
  }
}

/** A record of an earlier boot cannot have a living owner either: only this machine opens the folder. */
const isDeadHere = (owner: Owner): boolean => provenDead(owner) || beforeThisBoot(owner);
