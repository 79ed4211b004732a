import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { headerOf, readAnswer } from '../as4/answer.js';
import type { Answer } from '../as4/answer.js';
import type { BuiltRequest } from '../as4/request.js';
import type { UserMessage } from '../as4/user-message.js';
import type { DeliveryCounter } from '../delivery/counter.js';
import type { HookName, Target } from '../target/target.js';
import { sendRaw } from '../wire/send.js';
import type { Dials } from '../wire/send.js';
import { retryable } from './checks.js';
import { Draft, draftFor } from './draft.js';
import type { DraftOptions } from './draft.js';
import { Broken, NotApplicable } from './requirement.js';

/** A request with its answer, kept as evidence. */
export interface Exchange {
  readonly label: string;
  readonly url: string;
  readonly request: BuiltRequest;
  readonly answer: Answer;
  /** Milliseconds since the requirement began. */
  readonly at: number;
}

export interface SendOptions {
  /** For the report: what this copy is. */
  readonly label?: string;
  readonly dials?: Dials;
  /** Index of the address in `urls`. */
  readonly url?: number;
  /** Overrides the target's answer time, milliseconds. */
  readonly answerMs?: number;
  /** Sends this Content-Type instead. */
  readonly contentType?: string;
}

const POLL_MS = 50;

/** What a requirement works with: it makes messages, sends copies, counts deliveries, and says what it saw. */
export class Context {
  readonly target: Target;
  readonly exchanges: Exchange[] = [];
  /** Values seen where nothing is judged. */
  readonly observations: string[] = [];
  readonly #counter: DeliveryCounter | undefined;
  readonly #signal: AbortSignal;
  readonly #began = performance.now();
  readonly #expected = new Map<string, { readonly draft: Draft; readonly most: number }>();
  #backendChanged = false;
  #storeDown = false;
  readonly #pollMs: number;

  constructor(target: Target, counter: DeliveryCounter | undefined, signal: AbortSignal) {
    this.target = target;
    this.#counter = counter;
    this.#signal = signal;
    // a hundred copies in flight listen at once
    setMaxListeners(0, signal);
    this.#pollMs = Math.min(POLL_MS, Math.max(1, Math.floor(target.times.quiet / 4)));
  }

  message(options: DraftOptions = {}): Draft {
    return draftFor(this.target, options);
  }

  /** A message from the second sender that the target knows. */
  fromOther(message: Partial<UserMessage> = {}): Draft {
    const other = this.target.otherSender;
    if (other === undefined) throw new NotApplicable('the target file has no keys.otherSender');
    const draft = this.message({ message });
    const from = { ...draft.plan.message.from, id: other.party };
    return draft.with({ message: { from }, ...(other.identity === undefined ? {} : { identity: other.identity }) });
  }

  /** Sends one copy and reads the answer. A Draft is built anew for each call; a built request keeps its bytes. */
  async send(what: Draft | BuiltRequest, options: SendOptions = {}): Promise<Answer> {
    const request = what instanceof Draft ? what.build() : what;
    const url = this.target.urls[options.url ?? 0] ?? this.target.urls[0];
    const at = Math.round(performance.now() - this.#began);
    const answer = readAnswer(
      await sendRaw(url, {
        contentType: options.contentType ?? request.contentType,
        body: request.body,
        answerMs: options.answerMs ?? this.target.times.answer,
        signal: this.#signal,
        ...(options.dials === undefined ? {} : { dials: options.dials }),
        ...(this.target.tlsCa === undefined ? {} : { ca: this.target.tlsCa }),
      }),
    );
    this.exchanges.push({
      label: options.label ?? `copy ${this.exchanges.length + 1}`,
      url: url.href,
      request,
      answer,
      at,
    });
    return answer;
  }

  /**
   * As an honest sender: sends again while the answer leaves it free to, at most eight times, and returns the last
   * answer.
   */
  async retry(what: Draft | BuiltRequest, options: SendOptions = {}): Promise<Answer> {
    let answer = await this.send(what, options);
    for (let tries = 1; tries < 8 && retryable(answer); tries += 1) {
      const asked = Number(headerOf(answer, 'retry-after') ?? Number.NaN) * 1_000;
      await this.sleep(Math.min(Number.isFinite(asked) ? asked : 500, this.target.times.quiet));
      answer = await this.send(what, { ...options, label: `${options.label ?? 'copy'}, try ${tries + 1}` });
    }
    return answer;
  }

  /**
   * Waits until the message was delivered `times` times, and notes that it must stay so until the quiet period is
   * over.
   */
  async delivered(draft: Draft, times: number): Promise<void> {
    if (this.#counter === undefined) return;
    this.#expected.set(draft.token, { draft, most: times });
    const deadline = performance.now() + this.target.times.deliver;
    for (;;) {
      const count = await this.#counter.count(draft.token);
      if (count === times && times > 0) return;
      if (count > times)
        throw new Broken(
          `message ${draft.messageId} was delivered ${count} times, not ${times === 0 ? 'at all' : times}`,
        );
      if (times === 0 || performance.now() >= deadline) {
        if (times === 0) return;
        throw new Broken(
          `message ${draft.messageId} was delivered ${count} times within ${this.target.times.deliver} ms, not ` +
          `${times}`,
        );
      }
      await this.sleep(this.#pollMs);
    }
  }

  /** Lets a message whose sender left come to rest: until it is delivered, or for four quiet periods. */
  async atRest(draft: Draft): Promise<void> {
    for (let waited = 0; waited < 4 * this.target.times.quiet; waited += this.#pollMs) {
      if (((await this.countNow(draft)) ?? 0) > 0) return;
      await this.sleep(this.#pollMs);
    }
  }

  /** Deliveries that can be seen now; undefined where the target's deliveries are not counted. */
  async countNow(draft: Draft): Promise<number | undefined> {
    return this.#counter === undefined ? undefined : await this.#counter.count(draft.token);
  }

  async countToken(token: string): Promise<number | undefined> {
    return this.#counter === undefined ? undefined : await this.#counter.count(token);
  }

  /** Deliveries after a quiet period, for observations. */
  async countLater(draft: Draft): Promise<number | undefined> {
    await this.sleep(this.target.times.quiet);
    return await this.countNow(draft);
  }

  /** The end of every requirement: silence, in which nothing more may be delivered. */
  async quiet(): Promise<void> {
    if (this.#counter === undefined || this.#expected.size === 0) return;
    await this.sleep(this.target.times.quiet);
    for (const { draft, most } of this.#expected.values()) {
      const count = await this.#counter.count(draft.token);
      if (count > most)
        throw new Broken(
          `message ${draft.messageId} was delivered ${count} times; the last one came in the quiet period`,
        );
    }
  }

  observe(value: string): void {
    this.observations.push(value);
  }

  async sleep(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#signal }).catch(() => undefined);
    if (this.#signal.aborted) throw new Broken(`not finished within ${this.target.times.requirement} ms`);
  }

  /** Lets time pass for the target: by its clock hook where there is one, otherwise by waiting. */
  async pass(ms: number): Promise<void> {
    const clock = this.target.hooks.clock;
    if (clock === undefined) await this.sleep(ms);
    else await clock(ms);
  }

  async hook(name: HookName, argument?: number): Promise<void> {
    const hook = this.target.hooks[name];
    if (hook === undefined) throw new NotApplicable(`the target file has no hooks.${name}`);
    await hook(argument);
  }

  /** Restarts (or kills and starts) the target and waits until it answers HTTP again. */
  async restart(how: 'restart' | 'kill'): Promise<void> {
    await this.hook(how);
    await this.ready();
  }

  /** Waits until the target answers anything at all. */
  async ready(): Promise<void> {
    const deadline = performance.now() + this.target.times.ready;
    for (;;) {
      const wire = await sendRaw(this.target.urls[0], {
        contentType: undefined,
        body: Buffer.alloc(0),
        answerMs: 5_000,
        dials: { method: 'GET' },
      });
      if (wire.kind === 'response') return;
      if (performance.now() >= deadline)
        throw new Broken(
          `the target did not answer within ${this.target.times.ready} ms after its restart: ${wire.detail}`,
        );
      await this.sleep(Math.min(500, this.target.times.ready / 20));
    }
  }

  /** Makes the backend refuse or be slow until the requirement ends. */
  async backend(mode: 'fail' | 'slow' | 'normal'): Promise<void> {
    const control = this.#counter?.backend;
    const slow = this.target.times.slow;
    this.#backendChanged = mode !== 'normal';
    if (control !== undefined) {
      if (mode === 'slow') control.slow(slow);
      else control[mode]();
    } else if (mode === 'normal') await this.hook('backendNormal');
    else if (mode === 'fail') await this.hook('backendFail');
    else await this.hook('backendSlow', slow);
  }

  /** Stops the store; it is started again when the requirement ends at the latest. */
  async store(state: 'down' | 'up'): Promise<void> {
    this.#storeDown = state === 'down';
    await this.hook(state === 'down' ? 'storeDown' : 'storeUp');
  }

  /** Brings the target back to normal after a requirement that changed it. */
  async restore(): Promise<void> {
    if (this.#storeDown) await this.store('up');
    if (this.#backendChanged) await this.backend('normal');
  }
}
