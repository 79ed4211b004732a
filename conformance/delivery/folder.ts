import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { tokensIn } from './counter.js';
import type { DeliveryCounter } from './counter.js';

interface Seen {
  readonly inode: number;
  readonly size: number;
  readonly changed: number;
  readonly tokens: ReadonlySet<string>;
  /** Wall clock, milliseconds: when it was read. */
  readonly readAt: number;
}

/** The token stands near the start of every payload, so that no more than this is read of a delivered file. */
const HEAD_BYTES = 256 * 1024;
const UNFINISHED = /^\.|\.(tmp|part|filepart|failed)$/i;

/**
 * Counts files in a folder (and below). A file that is written again in place counts again: some products overwrite,
 * and
 * counting names alone would hide the second delivery. Files must stay where they are until the run has ended.
 */
export class FolderCounter implements DeliveryCounter {
  readonly place: string;
  readonly #folder: string;
  readonly #files = new Map<string, Seen>();
  readonly #counts = new Map<string, number>();
  #scan: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.place = `folder ${folder}`;
  }

  async count(token: string): Promise<number> {
    // one scan serves everybody who asks while it runs, and who asks later gets a new one
    await this.#scan;
    this.#scan ??= this.#look().finally(() => {
      this.#scan = undefined;
    });
    await this.#scan;
    return this.#counts.get(token) ?? 0;
  }

  async close(): Promise<void> {
    await this.#scan;
  }

  async #look(): Promise<void> {
    const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      },
    );
    for (const entry of entries) {
      if (!entry.isFile() || UNFINISHED.test(entry.name)) continue;
      await this.#file(join(entry.parentPath, entry.name));
    }
  }

  async #file(path: string): Promise<void> {
    const now = await stat(path).catch(() => undefined);
    if (now === undefined) return;
    const before = this.#files.get(path);
    if (before !== undefined && before.inode === now.ino && before.size === now.size && before.changed === now.mtimeMs)
      return;
    const readAt = Date.now();
    const tokens = tokensIn(await headOf(path));
    const same = before?.inode === now.ino;
    // still being written when it was read, or only its time was set; written again since it was read is a delivery
    const grown = same && now.size > before.size;
    const touched = same && now.size === before.size && now.mtimeMs <= before.readAt;
    for (const token of tokens) {
      if ((grown || touched) && before?.tokens.has(token) === true) continue;
      this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
    }
    this.#files.set(path, { inode: now.ino, size: now.size, changed: now.mtimeMs, tokens, readAt });
  }
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return Buffer.alloc(0);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head[0] !== 0x1f || head[1] !== 0x8b) return head;
    try {
      return gunzipSync(head, { finishFlush: 2, maxOutputLength: 64 * HEAD_BYTES });
    } catch {
      return head;
    }
  } finally {
    await file.close();
  }
}
