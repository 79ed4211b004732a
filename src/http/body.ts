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
export async function* readBody(request: IncomingMessage, clock: Clock, pace: BodyPace): AsyncGenerator<Uint8Array> {
  const chunks = request.iterator({ destroyOnReturn: false });
  const watch = new Watch(clock, pace);
  try {
    for (;;) {
      watch.waiting = true;
      const next = await watch.orFail(chunks.next()).catch((error: unknown) => {
        throw error instanceof As4OnceError ? error : new As4OnceError('BODY_INCOMPLETE', String(error));
      });
      watch.waiting = false;
      if (next.done === true) break;
      watch.bytes += next.value.byteLength;
      yield next.value;
    }
    if (!request.complete) throw new As4OnceError('BODY_INCOMPLETE', 'the connection ended before the body did');
  } finally {
    watch.stop();
  }
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

class Watch {
  readonly #clock: Clock;
  readonly #pace: BodyPace;
  #failure: Error | undefined;
  #fail: ((error: Error) => void) | undefined;
  #cancel: () => void;
  #before = 0;
  waiting = true;
  bytes = 0;

  constructor(clock: Clock, pace: BodyPace) {
    this.#clock = clock;
    this.#pace = pace;
    this.#cancel = clock.after(pace.idleMs, () => this.#look());
  }

  /**
   * What comes first, the promise or the end of our patience. No Promise.race with one promise for all chunks: that one
   * would remember each race, and each race its chunk, until the body has ended.
   */
  orFail<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      if (this.#failure !== undefined) reject(this.#failure);
      promise.then(resolve, reject);
    });
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    const { idleMs, minRate } = this.#pace;
    const moved = this.bytes - this.#before;
    this.#before = this.bytes;
    if (this.waiting && moved < (minRate * idleMs) / 1000) {
      this.#failure = new As4OnceError('BODY_TOO_SLOW', `${moved} bytes in ${idleMs} ms`);
      this.#fail?.(this.#failure);
      return;
    }
    this.#cancel = this.#clock.after(idleMs, () => this.#look());
  }
}
