import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { As4OnceError } from '../../errors.js';

/** mdb.c: behind the header of each of the two meta pages stand magic and version, then the size of pages, and more. */
const META = { flags: 18, magic: 24, version: 28, pageSize: 48, end: 160 } as const;
const IS_META = 0x08;
const MAGIC = 0xbeefc0de;
const VERSION = 2;

/**
 * LMDB ends the process, without a word, where the file is none of its own any more: overwritten, another file, its
 * beginning lost. So its two meta pages are looked at before it opens it. Damage further in is not seen here, nor a file
 * that was cut: LMDB itself does not always write the last pages that it has counted.
 * @throws As4OnceError RECORD_UNREADABLE
 */
export function mustBeLedger(folder: string): void {
  const path = join(folder, 'data.mdb');
  const damage = damageOf(path);
  if (damage === undefined) return;
  throw new As4OnceError('RECORD_UNREADABLE', `${path} is damaged (${damage}); put a backup in its place as docs/operate.md says, then see as4-once ledger status`);
}

function damageOf(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    // a ledger that begins
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const first = Buffer.alloc(META.end);
    const length = readSync(file, first, 0, META.end, 0);
    if (length === 0) return undefined;
    if (!isMeta(first)) return 'it does not begin as a ledger does';
    const second = Buffer.alloc(META.end);
    readSync(file, second, 0, META.end, first.readUInt32LE(META.pageSize));
    return isMeta(second) ? undefined : 'its second page is not one of a ledger';
  } finally {
    closeSync(file);
  }
}

function isMeta(page: Buffer): boolean {
  const pageSize = page.readUInt32LE(META.pageSize);
  return (page.readUInt16LE(META.flags) & IS_META) !== 0 && page.readUInt32LE(META.magic) === MAGIC
    && page.readUInt32LE(META.version) === VERSION && pageSize >= 256 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0;
}
