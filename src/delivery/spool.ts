import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import type { Limits } from '../limits.js';
import type { Sink, Spool } from '../walk.js';
import type { StoredBody } from './port.js';

/** For metrics. Bytes and counts as of now, `refused` since start. */
export interface SpoolCounters {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly bodies: number;
  readonly files: number;
  readonly refused: number;
}

export interface SpoolOptions {
  /** memoryPerBody, spoolMemory and spoolDisk, bytes. */
  readonly limits: Pick<Limits, 'memoryPerBody' | 'spoolMemory' | 'spoolDisk'>;
  /** Folder for spool files; made where it is missing. */
  readonly directory: string;
  /** For the names of the files, which live no longer than between open and unlink. */
  readonly clock: Pick<Clock, 'id'>;
}

/** How much is read from a spool file at once, bytes. */
const READ = 64 * 1024;

/**
 * Keeps request bodies until they are delivered (law 7): small ones in memory while all together stay within
 * spoolMemory, otherwise in a file that has no name any more when its first byte is written, so that nothing is left
 * behind whatever happens to the process.
 */
export function createSpool(options: SpoolOptions): Spool & { readonly counters: SpoolCounters } {
  const shared = new Shared(options);
  return {
    open: () => new BodySink(shared),
    get counters() {
      return { ...shared.counters };
    },
  };
}

/** What all bodies of one spool share: the bounds and what is used of them. */
class Shared {
  readonly counters = { memoryBytes: 0, diskBytes: 0, bodies: 0, files: 0, refused: 0 };
  readonly #options: SpoolOptions;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Whether `bytes` more of a body that has `has` bytes by now may stay in memory; takes them if so. */
  takeMemory(bytes: number, has: number): boolean {
    const { memoryPerBody, spoolMemory } = this.#options.limits;
    if (has + bytes > memoryPerBody || this.counters.memoryBytes + bytes > spoolMemory) return false;
    this.counters.memoryBytes += bytes;
    return true;
  }

  takeDisk(bytes: number): void {
    const { spoolDisk } = this.#options.limits;
    if (this.counters.diskBytes + bytes > spoolDisk) throw this.full(`all spool files together reach ${spoolDisk} bytes`);
    this.counters.diskBytes += bytes;
  }

  full(detail: string, cause?: unknown): As4OnceError {
    this.counters.refused += 1;
    return new As4OnceError('SPOOL_FULL', detail, { cause });
  }

  async closeFile(file: FileHandle): Promise<void> {
    await file.close().catch(() => undefined);
    this.counters.files -= 1;
  }

  async openFile(): Promise<FileHandle> {
    const { directory, clock } = this.#options;
    const path = join(directory, `${clock.id()}.spool`);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    try {
      const file = await open(path, flags, 0o600).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        await makeFolder(directory);
        return await open(path, flags, 0o600);
      });
      try {
        await unlink(path);
      } catch (error) {
        await file.close();
        throw error;
      }
      this.counters.files += 1;
      return file;
    } catch (error) {
      throw this.full(`no spool file can be made: ${codeOf(error)}`, error);
    }
  }
}

class BodySink implements Sink {
  readonly #shared: Shared;
  #chunks: Uint8Array[] = [];
  #inMemory = 0;
  #length = 0;
  #file: FileHandle | undefined;
  #onDisk = 0;
  #state: 'open' | 'failed' | 'finished' | 'freed' = 'open';

  constructor(shared: Shared) {
    this.#shared = shared;
    shared.counters.bodies += 1;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#state !== 'open') throw new As4OnceError('INTERNAL', `write to a spool body that is ${this.#state}`);
    if (chunk.byteLength === 0) return;
    try {
      if (this.#file === undefined && this.#shared.takeMemory(chunk.byteLength, this.#inMemory)) {
        this.#chunks.push(owned(chunk));
        this.#inMemory += chunk.byteLength;
      } else {
        await this.#spill(chunk);
      }
      this.#length += chunk.byteLength;
    } catch (error) {
      if (this.#state === 'open') this.#state = 'failed';
      throw error;
    }
  }

  async finish(): Promise<StoredBody> {
    if (this.#state !== 'open') throw new As4OnceError('INTERNAL', `finish of a spool body that is ${this.#state}`);
    this.#state = 'finished';
    const length = this.#length;
    const dispose = (): Promise<void> => this.#free();
    if (this.#file !== undefined) return { length, stream: () => this.#read(length), dispose };
    const bytes = this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks, length);
    this.#chunks = [bytes];
    return { length, bytes, stream: () => this.#read(length), dispose };
  }

  async discard(): Promise<void> {
    if (this.#state !== 'finished') await this.#free();
  }

  /** From here on the body lies in a file, with what memory held of it. */
  async #spill(chunk: Uint8Array): Promise<void> {
    const before = this.#chunks;
    const bytes = chunk.byteLength + (this.#file === undefined ? this.#inMemory : 0);
    this.#shared.takeDisk(bytes);
    this.#onDisk += bytes;
    if (this.#file === undefined) await this.#open();
    if (this.#file === undefined) throw new As4OnceError('INTERNAL', 'write to a spool body that was discarded meanwhile');
    let at = this.#length - this.#inMemory;
    for (const one of this.#inMemory > 0 ? [...before, chunk] : [chunk]) at = await this.#writeAt(this.#file, one, at);
    this.#chunks = [];
    this.#shared.counters.memoryBytes -= this.#inMemory;
    this.#inMemory = 0;
  }

  async #open(): Promise<void> {
    const file = await this.#shared.openFile();
    if (this.#state === 'open') this.#file = file;
    else await this.#shared.closeFile(file);
  }

  async #writeAt(file: FileHandle, chunk: Uint8Array, at: number): Promise<number> {
    let done = 0;
    while (done < chunk.byteLength) {
      let written: number;
      try {
        ({ bytesWritten: written } = await file.write(chunk, done, chunk.byteLength - done, at + done));
      } catch (error) {
        throw this.#shared.full(`the spool folder takes no more: ${codeOf(error)}`, error);
      }
      if (written === 0) throw this.#shared.full('the spool folder takes no more');
      done += written;
    }
    return at + done;
  }

  async *#read(length: number): AsyncGenerator<Uint8Array> {
    this.#mustStand();
    const file = this.#file;
    if (file === undefined) {
      yield* this.#chunks;
      return;
    }
    for (let at = 0; at < length; ) {
      this.#mustStand();
      // a fresh buffer each time: whoever writes it to a socket keeps it until it is sent
      const buffer = Buffer.allocUnsafeSlow(Math.min(READ, length - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, at);
      if (bytesRead === 0) throw new As4OnceError('INTERNAL', `the spool file ends at ${at} of ${length} bytes`);
      at += bytesRead;
      yield bytesRead === buffer.byteLength ? buffer : buffer.subarray(0, bytesRead);
    }
  }

  #mustStand(): void {
    if (this.#state !== 'finished') throw new As4OnceError('INTERNAL', 'a spool body was read after it was disposed of');
  }

  async #free(): Promise<void> {
    if (this.#state === 'freed') return;
    this.#state = 'freed';
    const { counters } = this.#shared;
    counters.bodies -= 1;
    counters.memoryBytes -= this.#inMemory;
    this.#chunks = [];
    if (this.#file !== undefined) await this.#shared.closeFile(this.#file);
    counters.diskBytes -= this.#onDisk;
  }
}

/** Level by level: Node's own recursive mkdir never returns where a file system answers ENOENT below a folder that is there. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 }).catch((again: unknown) => {
      if (codeOf(again) !== 'EEXIST') throw again;
    });
  }
}

/** A small view of a large pooled buffer would keep all of it alive and escape the bound. */
function owned(chunk: Uint8Array): Uint8Array {
  return chunk.byteLength * 2 < chunk.buffer.byteLength ? Uint8Array.prototype.slice.call(chunk) : chunk;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
