import { As4OnceError } from '../errors.js';
import type { Message } from '../message.js';
import { noteRefused } from '../notes.js';
import type { Rule } from '../policy/rule.js';
import type { AnswerIn, EarlyMessage, Reading } from '../protocol.js';
import type { Keys, Sink, Step } from '../walk.js';
import type { StoredBody } from './port.js';

/** What came in, whole. `body` is absent where the record was settled already and the copy was not kept. */
export type TakenIn =
  | { readonly kind: 'message'; readonly message: Message; readonly rule: Rule; readonly keys: Keys; readonly body: StoredBody | undefined; readonly content?: unknown; readonly root?: Uint8Array; readonly answerIn: AnswerIn }
  | { readonly kind: 'pass'; readonly body: StoredBody; readonly unreadable?: As4OnceError };

/**
 * Whole first, claim last (law 7): reads the body to its end into the spool while the protocol reads along, and claims
 * nothing. Throws As4OnceError for whatever cannot be read; the spool is empty again then. A long copy of a message that
 * is settled already is read to its end and not kept.
 */
export async function takeIn(step: Step): Promise<TakenIn> {
  const { exchange, route, walk } = step;
  const reading = route.protocol.open({ headers: exchange.headers, target: exchange.target }, walk.limits);
  const sink = route.bodyFrom === undefined ? walk.spool.open() : undefined;
  const intake = new Intake(step, reading, sink);
  try {
    if ((exchange.length ?? 0) > walk.limits.maxBody) throw new As4OnceError('BODY_TOO_LARGE', `${exchange.length} bytes announced`);
    for await (const chunk of exchange.body) await intake.take(chunk);
    step.notes.bytes = intake.bytes;
    step.answerBy = walk.clock.monotonic() + route.times.answerBy;
    const taken = await intake.finish();
    if (taken.kind === 'pass' && taken.unreadable !== undefined) noteRefused(step, reading);
    return taken;
  } catch (error) {
    step.notes.bytes = intake.bytes;
    noteRefused(step, reading);
    await sink?.discard();
    await reading.abandon?.();
    throw error instanceof As4OnceError ? new Refused(error, reading.answerIn) : error;
  }
}

/** Carries the language of the answer with the refusal. */
export class Refused extends As4OnceError {
  readonly answerIn: AnswerIn;
  constructor(error: As4OnceError, answerIn: AnswerIn) {
    super(error.code, error.detail, { cause: error });
    this.answerIn = answerIn;
  }
}

class Intake {
  readonly #step: Step;
  readonly #reading: Reading;
  /** Absent where the route delivers what the protocol reads instead (Route.bodyFrom). */
  readonly #sink: Sink | undefined;
  /** Set once the copy is known to be settled: it is read to its end, and not kept. */
  #known: { readonly rule: Rule; readonly keys: Keys } | undefined;
  #looked = false;
  #unreadable: As4OnceError | undefined;
  bytes = 0;

  constructor(step: Step, reading: Reading, sink: Sink | undefined) {
    this.#step = step;
    this.#reading = reading;
    this.#sink = sink;
  }

  async take(chunk: Uint8Array): Promise<void> {
    const { limits } = this.#step.walk;
    this.bytes += chunk.byteLength;
    if (this.bytes > limits.maxBody) throw new As4OnceError('BODY_TOO_LARGE', `more than ${limits.maxBody} bytes`);
    if (this.#known === undefined) await this.#sink?.write(chunk);
    await this.#read(() => this.#reading.push(chunk));
    if (!this.#looked && this.#reading.early?.kind === 'message' && this.#worthALook()) {
      this.#looked = true;
      await this.#lookFor(this.#reading.early.message);
    }
  }

  async finish(): Promise<TakenIn> {
    const read = await this.#read(() => this.#reading.end());
    if (read === undefined || read.kind === 'pass') {
      const body = await this.#body(undefined);
      return this.#unreadable === undefined ? { kind: 'pass', body } : { kind: 'pass', body, unreadable: this.#unreadable };
    }
    const { route } = this.#step;
    const rule = this.#known?.rule ?? route.select(read.message);
    this.#judge(read.message, read.bundled, rule);
    const body = this.#known === undefined ? await this.#body(read.content) : undefined;
    if (this.#unreadable !== undefined && body !== undefined) return { kind: 'pass', body, unreadable: this.#unreadable };
    const keys = this.#known?.keys ?? route.keysOf(read.message, rule);
    const content = read.content === undefined ? {} : { content: read.content };
    const { root } = this.#reading;
    const kept = root === undefined || (rule.keepHeader ?? 0) === 0 ? {} : { root };
    return { kind: 'message', message: read.message, rule, keys, body, ...content, ...kept, answerIn: this.#reading.answerIn };
  }

  /** What policy refuses although it can be read. */
  #judge(message: Message, bundled: boolean, rule: Rule): void {
    try {
      if (bundled && rule.bundle === 'refuse') throw new As4OnceError('BUNDLED');
      if (!message.signed && rule.unsigned === 'refuse') throw new As4OnceError('UNSIGNED');
    } catch (error) {
      if (rule.mode !== 'shadow' || !(error instanceof As4OnceError)) throw error;
      this.#unreadable = error;
    }
  }

  /** In shadow mode what would be refused is forwarded and reported, so reading stops and taking in goes on. */
  async #read<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    if (this.#unreadable !== undefined) return undefined;
    try {
      return await read();
    } catch (error) {
      if (!this.#step.route.shadow || !(error instanceof As4OnceError)) throw error;
      this.#unreadable = error;
      return undefined;
    }
  }

  #worthALook(): boolean {
    const { route, walk } = this.#step;
    if (walk.bypassed?.() === true) return false;
    return route.lookEarly === 'always' || this.bytes > walk.limits.memoryPerBody;
  }

  /** Read-only: a copy of a settled message need not be kept (nor decrypted). Anything else is decided by the claim. */
  async #lookFor(message: EarlyMessage): Promise<void> {
    const { route, walk } = this.#step;
    if (message.fingerprint === undefined) return;
    const known: Message = { ...message, fingerprint: message.fingerprint };
    const rule = route.select(message);
    if (rule.mode !== 'eliminate') return;
    const keys = route.keysOf(known, rule);
    const found = await walk.ledger.find(keys.key).catch(() => undefined);
    if (found === undefined || found.record.state !== 'settled' || found.record.fingerprint !== known.fingerprint) return;
    if (found.now >= found.record.born + rule.window) return;
    this.#known = { rule, keys };
    this.#reading.skim?.();
    await this.#sink?.discard();
  }

  async #body(content: unknown): Promise<StoredBody> {
    const { bodyFrom } = this.#step.route;
    if (this.#sink !== undefined) return await this.#sink.finish();
    if (bodyFrom === undefined) throw new As4OnceError('INTERNAL', 'a body that nobody kept');
    return bodyFrom(content);
  }
}
