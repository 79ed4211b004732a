import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { As4OnceError } from '../errors.js';
import type { Ledger, LedgerMeta } from '../ledger/port.js';
import { recordToJson } from '../ledger/schema.js';
import { tallyShelf } from '../ledger/shelves.js';
import { TALLIES_KEPT } from './tally.js';

const DAY = 86_400_000;
export const MANIFEST = 'as4-once-backup.json';

export interface Backup {
  readonly engine: Ledger['name'];
  /** Of the ledger that was copied, when the copy began. */
  readonly ledger: Pick<LedgerMeta, 'id' | 'created' | 'settles' | 'format' | 'now'>;
  /** `copy`: the folder is a ledger itself. `lines`: its file is imported. */
  readonly kind: 'copy' | 'lines';
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
}

/**
 * Copies the whole ledger while it is used. The folder appears when everything in it is complete and on the disk, or
 * not at all: what is under way lies beside it under another name.
 * @throws As4OnceError USAGE where the folder holds something already.
 */
export async function backUp(ledger: Ledger, folder: string): Promise<Backup> {
  const target = resolve(folder);
  await mustBeFree(target);
  await removeLeftovers(target);
  const partial = `${target}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const { id, created, settles, format, now } = await ledger.meta();
    const kind = ledger.copyTo === undefined ? 'lines' : 'copy';
    if (ledger.copyTo === undefined) await writeLines(ledger, join(partial, 'ledger.jsonl.gz'));
    else await ledger.copyTo(partial);
    const names = (await readdir(partial)).filter((name) => !name.startsWith('lock')).toSorted();
    const files = await Promise.all(names.map((name) => described(partial, name)));
    const backup: Backup = { engine: ledger.name, ledger: { id, created, settles, format, now }, kind, files };
    await writeFile(join(partial, MANIFEST), `${JSON.stringify(backup, undefined, 2)}\n`, { mode: 0o600 });
    await Promise.all([MANIFEST, ...names].map((name) => synced(join(partial, name))));
    await synced(partial);
    await rename(partial, target);
    await synced(dirname(target));
    return backup;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error instanceof As4OnceError
      ? error
      : new As4OnceError(
          'NOT_ALLOWED',
          `the backup could not be written, and there is none: ${(error as Error).message}`,
          { cause: error },
        );
  }
}

async function mustBeFree(target: string): Promise<void> {
  const found = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new As4OnceError('USAGE', `${target} cannot be used (${error.code ?? 'error'})`);
  });
  if (found.length > 0) throw new As4OnceError('USAGE', `${target} is not empty; name a new folder`);
}

/** What a backup left behind that was killed. */
async function removeLeftovers(target: string): Promise<void> {
  const parent = dirname(target);
  const begun = `${basename(target)}.partial-`;
  await mkdir(parent, { recursive: true });
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(begun) ? Number(name.slice(begun.length)) : NaN;
    if (Number.isSafeInteger(pid) && (pid === process.pid || !runs(pid)))
      await rm(join(parent, name), { recursive: true, force: true });
  }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Every record, then the tallies, each a line that `as4-once import` takes; the last line tells how many there are. */
async function writeLines(ledger: Ledger, file: string): Promise<void> {
  const gzip = createGzip();
  const sink = gzip.pipe(createWriteStream(file, { mode: 0o600 }));
  const failed = finished(sink);
  failed.catch(() => undefined);
  const put = async (value: unknown): Promise<void> => {
    if (!gzip.write(`${JSON.stringify(value)}\n`)) await Promise.race([once(gzip, 'drain'), failed]);
  };
  const meta = await ledger.meta();
  await put({ backup: { ledger: meta.id, settles: meta.settles, at: new Date(meta.now).toISOString() } });
  let records = 0;
  for await (const { record } of ledger.iterate()) {
    await put({ record: recordToJson(record) });
    records += 1;
  }
  for (let day = meta.now - TALLIES_KEPT; day <= meta.now + DAY; day += DAY) {
    const shelf = tallyShelf(new Date(day).toISOString().slice(0, 10));
    const entries = Object.fromEntries(await ledger.notes(shelf));
    if (Object.keys(entries).length > 0)
      await put({ note: { shelf, entries, keptMs: Math.max(DAY, day + TALLIES_KEPT - meta.now) } });
  }
  await put({ end: { records } });
  gzip.end();
  await failed;
}

async function described(folder: string, name: string): Promise<Backup['files'][number]> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(join(folder, name)) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { name, bytes, sha256: hash.digest('hex') };
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
