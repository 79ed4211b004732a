import { mkdirSync, realpathSync, statfsSync } from 'node:fs';
import { As4OnceError } from '../../errors.js';

/** statfs(2) magic numbers of file systems whose locks or mapped pages do not hold what LMDB needs of them. */
const REFUSED: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x47504653, 'GPFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
]);
/** In memory only: gone at the next start of the machine. */
const FORGETFUL: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/** The name of a file system the embedded ledger cannot lie on; undefined where it can. */
export const refusedFileSystem = (magic: number): string | undefined => REFUSED.get(magic >>> 0);

/** Makes the folder and looks at what it lies on. @throws As4OnceError CONFIG_INVALID */
export function prepareFolder(path: string): { readonly path: string; readonly forgetful: boolean } {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const real = realpathSync(path);
  const magic = statfsSync(real).type;
  const refused = refusedFileSystem(magic);
  if (refused !== undefined) {
    throw new As4OnceError('CONFIG_INVALID', `the embedded ledger needs a local disk, and ${path} lies on ${refused}; use Redis, or another folder`);
  }
  return { path: real, forgetful: FORGETFUL.has(magic >>> 0) };
}

/** Free space that is left to settles: no new claim is taken below it. 32 MiB, or a tenth of a small disk. */
const RESERVE = 32 * 1024 * 1024;

export function nearlyFull(path: string): boolean {
  const { bavail, blocks, bsize } = statfsSync(path);
  return bavail * bsize < Math.min(RESERVE, (blocks * bsize) / 10);
}
