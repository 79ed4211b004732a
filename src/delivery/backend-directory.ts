import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.js';
import type { Backend, Handed, Handover } from '../endpoint/backend.js';
import { mimeTypeOf } from '../endpoint/handover.js';
import type { Payload } from '../security/payload.js';
import { LeftOver, partOf } from './backend-left-over.js';

export interface DirectoryBackendOptions {
  readonly directory: string;
  /** For the names of unfinished deliveries, and their age. */
  readonly clock: Pick<Clock, 'id' | 'now'>;
}

/**
 * Each message becomes one folder with its payloads and `message.json`, complete from the moment it has its name: it is
 * written and fsynced beside, then renamed. The name is the same for every attempt at one message, so a delivery that is
 * repeated after a crash is the folder that is there already. Names that begin with a dot are unfinished, each attempt's its
 * own; what a crash left of them is removed (LeftOver).
 */
export function directoryBackend({ directory, clock }: DirectoryBackendOptions): Backend {
  const leftOver = new LeftOver(directory, clock);
  return {
    idempotent: true,
    hand: async (over) => {
      if (over.again) await leftOver.of(over.name);
      void leftOver.old();
      const unfinished = join(directory, partOf(over.name, clock.id()));
      let renamed = false;
      try {
        await mkdir(unfinished).catch(async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
          await mkdir(directory, { recursive: true });
          await mkdir(unfinished);
        });
        await writeAll(unfinished, over);
        if (over.signal.aborted) throw Object.assign(new Error('too late'), { code: 'times.patience was over' });
        renamed = true;
        await rename(unfinished, join(directory, over.name));
        await sync(directory);
        return { kind: 'accepted' };
      } catch (error) {
        await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
        return renamed && isThere(error) ? { kind: 'accepted' } : failure(error, renamed);
      }
    },
    close: async () => undefined,
  };
}

/** The payloads first and what describes them last; all of it on the disk before anybody can see it. */
async function writeAll(folder: string, { payloads, metadata }: Handover): Promise<void> {
  const files: string[] = [];
  for (const [i, payload] of payloads.entries()) {
    const name = `payload-${i + 1}${extensionOf(payload)}`;
    files.push(name);
    await write(join(folder, name), payload.body.stream());
  }
  const described = { ...metadata, payloads: metadata.payloads.map((one, i) => ({ file: files[i], ...one })) };
  await write(join(folder, 'message.json'), [Buffer.from(`${JSON.stringify(described, undefined, 2)}\n`)]);
  await sync(folder);
}

async function write(path: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o640);
  try {
    for await (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The folder has its name already: delivered by an attempt that did not live to say so. */
function isThere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOTEMPTY' || code === 'EEXIST';
}

function failure(error: unknown, renamed: boolean): Handed {
  const { code } = error as NodeJS.ErrnoException;
  // whoever is no system call is a fault of ours
  if (code === undefined) throw error;
  return renamed ? { kind: 'uncertain', detail: `${code} behind the rename` } : { kind: 'away', detail: `the folder takes nothing: ${code}` };
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/xml': '.xml', 'text/xml': '.xml', 'application/json': '.json', 'application/pdf': '.pdf', 'text/plain': '.txt', 'text/csv': '.csv',
  'application/zip': '.zip', 'application/gzip': '.gz', 'application/edifact': '.edi', 'application/edi-x12': '.x12',
};

function extensionOf(payload: Payload): string {
  const type = (mimeTypeOf(payload).split(';', 1)[0] ?? '').trim().toLowerCase();
  return EXTENSIONS[type] ?? (type.endsWith('+xml') ? '.xml' : '.bin');
}
