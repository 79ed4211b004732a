import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';

export interface BodyPace {
  /** Longest time without enough bytes, ms. */
  readonly idleMs: number;
  /** Bytes per second that a sender must keep up, averaged over idleMs. */
  readonly minRate: number;
}

/**
 * The request's body as chunks, with a pace: a sender of 100 MB over a thin line lives, a slow-loris does not. Only time
 * spent waiting for the sender counts, never time in which our own disk was slow. The socket stays open whatever
 * happens here, so that the answer can still be read.
 * @throws As4OnceError BODY_TOO_SLOW, BODY_INCOMPLETE
 */
export function readBody(request: IncomingMessage, clock: Clock, pace: BodyPace): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => new BodyReader(request, clock, pace) };
}

/** Reads and throws away what is left of a body after its answer, bounded; then the connection may go. */
export async function drain(request: IncomingMessage, clock: Clock, pace: BodyPace, bytesMax: number): Promise<void> {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  try {
    for await (const chunk of readBody(request, clock, pace)) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) break;
    }
  } catch {
    // too slow or gone: nothing more to be polite about
  }
  if (!request.complete) request.destroy();
}

/**
 * By hand over the stream's own events: the stream's async iterator costs every small message a dozen listeners and two
 * generators. Paused mode: nothing is read from the socket beyond what was asked for.
 */
class BodyReader implements AsyncIterator<Uint8Array, undefined> {
  readonly #request: IncomingMessage;
  readonly #watch: Watch;
  readonly #onReadable = (): void => this.#look();
  readonly #onEnd = (): void => this.#finish(this.#request.complete ? undefined : incomplete('the connection ended before the body did'));
  readonly #onClose = (): void => this.#finish(incomplete('the connection closed before the body ended'));
  readonly #onError = (error: Error): void => this.#finish(incomplete(String(error)));
  #wanted: { resolve(result: IteratorResult<Uint8Array, undefined>): void; reject(error: Error): void } | undefined;
  #failure: Error | undefined;
  #done = false;

  constructor(request: IncomingMessage, clock: Clock, pace: BodyPace) {
    this.#request = request;
    this.#watch = new Watch(clock, pace, (error) => this.#finish(error));
    request.on('readable', this.#onReadable).once('end', this.#onEnd).once('close', this.#onClose).once('error', this.#onError);
    // what is over already says so no more
    if (request.readableEnded) this.#onEnd();
    else if (request.destroyed) this.#onClose();
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return new Promise((resolve, reject) => {
      this.#wanted = { resolve, reject };
      this.#watch.waiting = true;
      this.#look();
    });
  }

  /** The reader wants no more; the stream stays open for whoever drains it. */
  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  #look(): void {
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    const chunk = this.#done ? null : (this.#request.read() as Buffer | null);
    if (chunk !== null) {
      this.#wanted = undefined;
      this.#watch.waiting = false;
      this.#watch.bytes += chunk.byteLength;
      wanted.resolve({ done: false, value: chunk });
    } else if (this.#done) {
      this.#wanted = undefined;
      if (this.#failure === undefined) wanted.resolve({ done: true, value: undefined });
      else wanted.reject(this.#failure);
    }
  }

  #finish(failure: Error | undefined): void {
    if (this.#done) return;
    this.#failure = failure;
    this.#leave();
    this.#look();
  }

  #leave(): void {
    this.#done = true;
    this.#watch.stop();
    this.#request.off('readable', this.#onReadable).off('end', this.#onEnd).off('close', this.#onClose).off('error', this.#onError);
  }
}

const incomplete = (detail: string): As4OnceError => new As4OnceError('BODY_INCOMPLETE', detail);

/** Ends the reading of a body whose sender is too slow. */
class Watch {
  readonly #clock: Clock;
  readonly #pace: BodyPace;
  readonly #fail: (error: Error) => void;
  #cancel: () => void;
  #before = 0;
  waiting = true;
  bytes = 0;

  constructor(clock: Clock, pace: BodyPace, fail: (error: Error) => void) {
    this.#clock = clock;
    this.#pace = pace;
    this.#fail = fail;
    this.#cancel = clock.after(pace.idleMs, () => this.#look());
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    const { idleMs, minRate } = this.#pace;
    const moved = this.bytes - this.#before;
    this.#before = this.bytes;
    if (this.waiting && moved < (minRate * idleMs) / 1000) {
      this.#fail(new As4OnceError('BODY_TOO_SLOW', `${moved} bytes in ${idleMs} ms`));
      return;
    }
    this.#cancel = this.#clock.after(idleMs, () => this.#look());
  }
}
