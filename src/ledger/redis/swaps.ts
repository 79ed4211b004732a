import type { Clock } from '../../clock.js';
import { As4OnceError } from '../../errors.js';
import { decodeRecord, encodeRecord, versionText } from '../codec.js';
import type { Apply } from '../commands.js';
import type { Contact } from '../contact.js';
import { provenDead } from '../owner.js';
import type { Claim, Point, PointAnswer } from '../port.js';
import type { DuplicateKey, LedgerRecord } from '../record.js';
import { guarded, indexed, keptUntil, point, primariesOf, settles, stands, transition, wakes } from '../transition.js';
import type { CommandName, Moment, Step } from '../transition.js';
import type { Reply } from './command-port.js';
import type { Keys, Place } from './keys.js';
import type { Runner } from './runner.js';
import { CLAIM, READ, SWAP_ALWAYS } from './scripts.js';
import type { ServerClock } from './server-clock.js';

/** A judgement may be so much older than the server's clock when it is written, ms; at most a quarter of the lease. */
const TOLERANCE = 1_000;
/** Claims whose record is remembered here, so that their settle needs no read before it. */
const REMEMBERED = 10_000;

export interface SwapParts {
  readonly runner: Runner;
  readonly keys: Keys;
  readonly time: ServerClock;
  readonly clock: Clock;
  readonly contact: Contact;
  /** How long one command of the port may go on trying, ms. */
  readonly patienceMs: number;
  readonly waitReplicas: number;
  /** The format records are written in. */
  readonly format: () => Promise<string>;
  /** Why no new claims are taken now; undefined where they are. */
  readonly full: () => string | undefined;
  /** Contact of a one-shot command: the server's own run time, ms. */
  readonly uptimeMs: () => number | undefined;
  readonly changed: (key: DuplicateKey) => void;
}

/** What is believed to stand: read from the server, or only assumed. */
interface Belief {
  readonly record: LedgerRecord | undefined;
  readonly sure: boolean;
}

interface Swapped {
  readonly code: number;
  readonly standing: LedgerRecord | undefined;
  readonly counted: boolean;
  /** Where it was written: copies were counted while it was judged. */
  readonly copies: number;
}

/**
 * The step of every command: judge what is believed to stand with the transition, write the result if it still stands
 * and the judgement's time still fits; otherwise the server shows what stands, and it is judged again. So the states
 * have one definition, and a first claim, a duplicate and a settle are one round trip each.
 */
export class Swaps {
  readonly #parts: SwapParts;
  readonly #own = new Map<DuplicateKey, LedgerRecord>();

  constructor(parts: SwapParts) {
    this.#parts = parts;
  }

  readonly apply: Apply = async (name, key, command) => {
    const { clock, keys, patienceMs, full } = this.#parts;
    const place = keys.of(key);
    const claim = name === 'claim' ? (command as Claim) : undefined;
    const began = clock.monotonic();
    const boundMs = claim === undefined ? patienceMs : Math.min(patienceMs, claim.notAfterMs);
    const token = (command as Partial<Claim>).token;
    let counted = claim?.counted === true;
    let belief = await this.#firstBelief(name, key, token, claim);
    let notAfter = 0;
    if (belief === 'look') {
      const seen = await this.#look(place, token ?? '', !counted);
      counted ||= seen.counted;
      belief = { record: seen.standing, sure: true };
    }
    for (;;) {
      if (clock.monotonic() - began > boundMs) throw new As4OnceError('LEDGER_DOWN', `no decision within ${boundMs} ms: too many write this record`);
      const at = await this.#moment(place);
      if (notAfter === 0 && claim !== undefined) notAfter = at.now + claim.notAfterMs;
      const judged = claim !== undefined && counted ? { ...command, counted: true } : command;
      const step = transition(belief.record, name, judged, at);
      if (step.next === undefined) {
        if (belief.sure) return step.answer;
        belief = { record: await this.read(key), sure: true };
        continue;
      }
      const taken = claim !== undefined && step.next.state === 'claimed';
      if (taken && belief.record?.token !== token) refuseIf(full());
      const swapped = await this.#swap(place, { belief, next: step.next, at, notAfter, token: token ?? '', count: !counted && claim !== undefined, taken });
      if (swapped.code === 0) {
        const written = { ...step.next, copies: swapped.copies };
        this.#remember(written);
        if (wakes(belief.record, written)) this.#parts.changed(key);
        return typeof step.answer === 'object' && 'record' in step.answer ? { ...step.answer, record: written } : step.answer;
      }
      if (swapped.code === 3) throw new As4OnceError('LEDGER_DOWN', 'the claim came to Redis too late to be executed (notAfter)');
      counted ||= swapped.counted;
      belief = { record: swapped.standing, sure: true };
    }
  };

  /** Pointers are judged by their primaries, which lie elsewhere: those are read, the pointer alone is guarded. */
  async point(command: Point): Promise<PointAnswer> {
    const { clock, keys, patienceMs } = this.#parts;
    const place = keys.of(command.key);
    const began = clock.monotonic();
    let belief: Belief = { record: await this.read(command.key), sure: true };
    while (clock.monotonic() - began <= patienceMs) {
      const at = await this.#moment(place);
      const pointer = stands(belief.record, guarded(belief.record, at).now);
      const records = await Promise.all(primariesOf(pointer, command).map((key) => this.read(key)));
      const step: Step<PointAnswer> = point(pointer, command, records, guarded(pointer, at));
      if (step.next === undefined) return step.answer;
      const swapped = await this.#swap(place, { belief, next: step.next, at, notAfter: 0, token: '', count: false, taken: true });
      if (swapped.code === 0) return step.answer;
      belief = { record: swapped.standing, sure: true };
    }
    throw new As4OnceError('LEDGER_DOWN', `no decision within ${patienceMs} ms: too many write this record`);
  }

  /** From the master, whatever the client prefers. */
  async read(key: DuplicateKey): Promise<LedgerRecord | undefined> {
    const [record] = await this.readAll([key]);
    return record;
  }

  /** Keys of one bucket, or of any where there is no cluster. */
  async readAll(keys: readonly DuplicateKey[]): Promise<(LedgerRecord | undefined)[]> {
    const { runner, clock, time } = this.#parts;
    const places = keys.map((key) => this.#parts.keys.of(key));
    const bucket = places[0]?.bucket ?? '';
    const sent = clock.monotonic();
    const [now, ...values] = await runner.run({ script: READ, keys: places.map(({ record }) => record) });
    time.learn(bucket, Number(now), sent);
    return values.map((value) => (Buffer.isBuffer(value) ? decodeRecord(value) : undefined));
  }

  /** The server's time, as far as it is known here, and what else the transition asks. */
  async moment(key: DuplicateKey): Promise<Moment> {
    return this.#moment(this.#parts.keys.of(key));
  }

  async #moment({ bucket, record }: Place): Promise<Moment> {
    const { time, contact, clock, runner, uptimeMs } = this.#parts;
    if (time.now(bucket) === undefined) {
      const sent = clock.monotonic();
      const [now] = await runner.run({ script: READ, keys: [record] });
      time.learn(bucket, Number(now), sent);
    }
    return { now: time.now(bucket) ?? 0, contactMs: uptimeMs() ?? contact.lastedMs(), isDead: provenDead };
  }

  async #firstBelief(name: CommandName, key: DuplicateKey, token: string | undefined, claim: Claim | undefined): Promise<Belief | 'look'> {
    if (claim !== undefined) {
      // most messages are first copies: what is absent needs no look, what stands is shown by the refused write
      const look = claim.take === false || this.#parts.full() !== undefined;
      return look ? 'look' : { record: undefined, sure: false };
    }
    if (name === 'adopt') return { record: undefined, sure: false };
    const own = this.#own.get(key);
    if (own !== undefined && own.token === token) return { record: own, sure: false };
    return { record: await this.read(key), sure: true };
  }

  /** A claim's look at what stands, counting its copy. */
  async #look(place: Place, token: string, count: boolean): Promise<Swapped> {
    return this.#send(place, ['!', '', '0', '0', '0', '', '', '0', '0', count ? 'c' : '', token, '', ''], false, 0);
  }

  async #swap(place: Place, swap: {
    belief: Belief; next: LedgerRecord; at: Moment; notAfter: number; token: string; count: boolean; taken: boolean;
  }): Promise<Swapped> {
    const { belief: { record: before }, next, at, notAfter, token, count, taken } = swap;
    const { keys, waitReplicas } = this.#parts;
    const goesOn = before !== undefined && before.born === next.born && next.copies >= before.copies;
    const tolerance = Math.min(TOLERANCE, (next.lease ?? TOLERANCE * 4) / 4);
    const flags = (count ? 'c' : '') + (settles(before, next) ? 's' : '') + (wakes(before, next) ? 'p' : '');
    const value = encodeRecord(next, await this.#parts.format());
    const index = indexed(next) ? '+' : before !== undefined && indexed(before) ? '-' : '';
    return this.#send(place, [
      before === undefined ? '-' : versionText(before.version), value, String(keptUntil(next)),
      String(at.now), String(Math.floor(tolerance)), index, next.key, String(notAfter),
      goesOn ? String(next.copies - before.copies) : '=', flags, token, keys.channel, next.key,
    ], taken, taken && next.state === 'claimed' ? waitReplicas : 0);
  }

  async #send({ record, index, settles: counter, bucket }: Place, args: readonly (string | Buffer)[], claiming: boolean, replicas: number): Promise<Swapped> {
    const { runner, clock, time } = this.#parts;
    const sent = clock.monotonic();
    const script = claiming ? CLAIM : SWAP_ALWAYS;
    const [code, now, standing, counted] = await runner.run({ script, keys: [record, index, counter], args, claiming, replicas });
    time.learn(bucket, Number(now), sent);
    return { code: Number(code), standing: decoded(standing), counted: code === 1 && counted === 1, copies: Number(counted) };
  }

  /** The record of a claim of this process, until its end. */
  #remember(record: LedgerRecord): void {
    this.#own.delete(record.key);
    if (record.state !== 'claimed') return;
    this.#own.set(record.key, record);
    const [oldest] = this.#own.keys();
    if (this.#own.size > REMEMBERED && oldest !== undefined) this.#own.delete(oldest);
  }
}

const decoded = (value: Reply): LedgerRecord | undefined => (Buffer.isBuffer(value) ? decodeRecord(value) : undefined);

function refuseIf(full: string | undefined): void {
  if (full !== undefined) throw new As4OnceError('LEDGER_FULL', `no new claims: ${full}`);
}
