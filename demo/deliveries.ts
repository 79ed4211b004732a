import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Payload } from './read-message.js';

/**
 * The application behind the sample access point: a folder in which each delivery is one entry. A message with one
 * payload is one file, one with several is one folder, and either appears whole or not at all (rename).
 */
export class Deliveries {
  readonly #folder: string;
  #count: number;

  private constructor(folder: string, count: number) {
    this.#folder = folder;
    this.#count = count;
  }

  static async open(folder: string): Promise<Deliveries> {
    await mkdir(folder, { recursive: true });
    const standing = (await readdir(folder)).map((name) => Number(name.match(/^(\d+)-/)?.[1] ?? 0));
    return new Deliveries(folder, Math.max(0, ...standing));
  }

  /** Writes one delivery and returns its name: a running number, then as much of the MessageId as a file name may hold. */
  async write(messageId: string, payloads: readonly Payload[]): Promise<string> {
    this.#count += 1;
    const stem = `${String(this.#count).padStart(4, '0')}-${messageId.replace(/[^\w.@-]/g, '_').slice(0, 100)}`;
    const [first, ...more] = payloads;
    const name = first === undefined || more.length > 0 ? stem : `${stem}.${first.ending}`;
    const unfinished = join(this.#folder, `.unfinished-${stem}`);
    if (first !== undefined && more.length === 0) {
      await writeWhole(unfinished, first.content);
    } else {
      await mkdir(unfinished);
      for (const [i, payload] of payloads.entries()) await writeWhole(join(unfinished, `${i + 1}.${payload.ending}`), payload.content);
    }
    await rename(unfinished, join(this.#folder, name));
    return name;
  }
}

async function writeWhole(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
