import { createGunzip } from 'node:zlib';
import type { Gunzip } from 'node:zlib';
import { As4OnceError } from '../errors.js';

/** Undoes `Content-Encoding: gzip` while a body arrives, for reading only: what is forwarded keeps its coding. */
export class GunzipFeed {
  readonly #gunzip: Gunzip = createGunzip();
  readonly #feed: (bytes: Uint8Array) => void;
  readonly #maxBytes: number;
  #bytes = 0;
  #failure: unknown;

  /** `feed` takes the plain bytes; what it throws, push throws. `maxBytes` bounds them all together: BODY_TOO_LARGE. */
  constructor(feed: (bytes: Uint8Array) => void, maxBytes: number) {
    this.#feed = feed;
    this.#maxBytes = maxBytes;
    this.#gunzip.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#gunzip.on('error', (error) => {
      this.#failure ??= new As4OnceError('MIME_BROKEN', `gzip Content-Encoding: ${error.message}`);
    });
  }

  /** Resolves when the chunk is inflated and fed on, so that a caller who waits never has more than one in memory. */
  async push(chunk: Uint8Array): Promise<void> {
    if (this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#gunzip.once('close', resolve);
        this.#gunzip.write(chunk, () => {
          this.#gunzip.off('close', resolve);
          resolve();
        });
      });
    }
    this.#check();
  }

  async end(): Promise<void> {
    if (this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#gunzip.once('close', resolve);
        this.#gunzip.end();
      });
    }
    this.#check();
  }

  #take(bytes: Buffer): void {
    if (this.#failure !== undefined) return;
    try {
      this.#bytes += bytes.length;
      if (this.#bytes > this.#maxBytes) {
        throw new As4OnceError('BODY_TOO_LARGE', `gzip Content-Encoding inflates to more than ${this.#maxBytes} bytes`);
      }
      this.#feed(bytes);
    } catch (error) {
      this.#failure = error;
      this.#gunzip.destroy();
    }
  }

  #check(): void {
    if (this.#failure !== undefined) {
      this.#gunzip.destroy();
      throw this.#failure;
    }
  }
}

/** Whether a Content-Encoding value asks for gzip to be undone. Throws CONTENT_CODING for any other coding. */
export function isGzipCoded(value: string | undefined): boolean {
  const named = (value ?? '').split(',').map((c) => c.trim().toLowerCase());
  const codings = named.filter((c) => c !== '' && c !== 'identity');
  if (codings.length === 0) return false;
  if (codings.length === 1 && (codings[0] === 'gzip' || codings[0] === 'x-gzip')) return true;
  throw new As4OnceError('CONTENT_CODING', codings.join(', ').slice(0, 80));
}
