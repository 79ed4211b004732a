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
      const next = (await Promise.race([chunks.next(), watch.failed]).catch((error: unknown) => {
        throw error instanceof As4OnceError ? error : new As4OnceError('BODY_INCOMPLETE', String(error));
      })) as IteratorResult<Uint8Array>;
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
  readonly failed: Promise<never>;
  readonly #clock: Clock;
  readonly #pace: BodyPace;
  #fail: (error: Error) => void = () => undefined;
  #cancel: () => void;
  #before = 0;
  waiting = true;
  bytes = 0;

  constructor(clock: Clock, pace: BodyPace) {
    this.#clock = clock;
    this.#pace = pace;
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => undefined);
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
