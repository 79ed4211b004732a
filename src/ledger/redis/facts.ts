import type { Clock } from '../../clock.js';
import { knownFormat, newestFormat } from '../codec.js';
import { checkNote } from '../notes.js';
import type { Acceptance, LedgerMeta, Note } from '../port.js';
import type { Reply } from './command-port.js';
import { BUCKETS, type Keys } from './keys.js';
import type { Runner } from './runner.js';
import { COUNTS, FOUND, NOTE, NOTES, STATE } from './scripts.js';

/** What the ledger knows of itself: identity, format, an operator's acceptance, notes, and how much was settled. */
export class Facts {
  readonly #runner: Runner;
  readonly #keys: Keys;
  readonly #clock: Clock;
  #format: string | undefined;

  constructor(runner: Runner, keys: Keys, clock: Clock) {
    this.#runner = runner;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** The format records are written in, asked once and whenever the facts are read. */
  async format(): Promise<string> {
    return this.#format ?? ((await this.#read()).get('format') ?? '1');
  }

  async meta(now: number): Promise<LedgerMeta> {
    const facts = await this.#read(now);
    const accepted = facts.get('accepted');
    return {
      id: facts.get('id') ?? '',
      created: Number(facts.get('created') ?? 0),
      settles: await this.#settles(),
      now,
      format: facts.get('format') ?? '1',
      newestFormat: newestFormat(),
      ...(accepted === undefined ? {} : { accepted: JSON.parse(accepted) as Acceptance }),
    };
  }

  async accept(command: Omit<Acceptance, 'id' | 'when'>, now: number): Promise<void> {
    await this.#write('accepted', JSON.stringify({ ...command, id: this.#clock.id(), when: now } satisfies Acceptance));
  }

  async upgrade(): Promise<void> {
    await this.#read();
    await this.#write('format', newestFormat());
  }

  async note(note: Note): Promise<void> {
    checkNote(note);
    const removed = Object.entries(note.entries).filter(([, text]) => text === null).map(([name]) => name);
    const written = Object.entries(note.entries).flatMap(([name, text]) => (text === null ? [] : [name, text]));
    const keptMs = Math.ceil(note.keptMs);
    await this.#runner.run({
      script: NOTE, keys: [this.#keys.shelf(note.shelf)],
      args: [String(keptMs), String(keptMs + Math.ceil(keptMs / 20)), String(removed.length), ...removed, ...written],
    });
  }

  async notes(shelf: string): Promise<ReadonlyMap<string, string>> {
    return pairs(await this.#runner.run({ script: NOTES, keys: [this.#keys.shelf(shelf)] }));
  }

  /** The ledger's facts; made where there are none, so that a ledger has one identity from its first use on. */
  async #read(now = this.#clock.now()): Promise<Map<string, string>> {
    const facts = pairs(await this.#runner.run({
      script: FOUND, keys: [this.#keys.facts],
      args: ['id', this.#clock.id(), 'created', String(Math.floor(now)), 'format', newestFormat()],
    }));
    this.#format = facts.get('format');
    knownFormat(this.#format ?? '1');
    return facts;
  }

  async #write(name: string, value: string): Promise<void> {
    const facts = pairs(await this.#runner.run({ script: STATE, keys: [this.#keys.facts], args: [name, value] }));
    this.#format = facts.get('format');
  }

  async #settles(): Promise<number> {
    const names = BUCKETS.map((bucket) => this.#keys.settles(bucket));
    // in a cluster every bucket has a slot of its own
    const groups = this.#runner.port.cluster ? names.map((name) => [name]) : [names];
    const counts = await Promise.all(groups.map((keys) => this.#runner.run({ script: COUNTS, keys })));
    return counts.flat().reduce<number>((sum, count) => sum + Number(count ?? 0), 0);
  }
}

function pairs(reply: readonly Reply[]): Map<string, string> {
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < reply.length; i += 2) found.set(String(reply[i]), String(reply[i + 1]));
  return found;
}
