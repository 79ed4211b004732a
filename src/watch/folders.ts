import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { As4OnceError } from '../errors.js';
import { codeOf } from './fs-errors.js';
import type { Watching } from './watching.js';

/** Folders of ours inside work, all of them dot names. */
export const WATCHERS = '.watchers';
export const RESERVED = '.reserved';
export const PARTS = '.parts';

/**
 * Makes the folders that are missing and proves that a file can be renamed from work into each of them: only a rename
 * delivers a file at once and whole. Throws CONFIG_INVALID.
 */
export async function prepareFolders({ config, id }: Pick<Watching, 'config' | 'id'>): Promise<void> {
  const { work, ...others } = config.folders;
  const own = [WATCHERS, PARTS, ...Object.keys(others).map((target) => join(RESERVED, target))];
  for (const folder of [work, ...Object.values(others), ...own.map((name) => join(work, name))]) {
    await mkdir(folder, { recursive: true });
  }
  const probe = `.probe-${id}`;
  for (const folder of Object.values(others)) {
    await writeFile(join(work, probe), '');
    try {
      await rename(join(work, probe), join(folder, probe));
    } catch (error) {
      const why = codeOf(error) === 'EXDEV' ? 'is on another file system than' : `cannot take a file (${codeOf(error)}) from`;
      throw new As4OnceError('CONFIG_INVALID', `watch ${config.name}: ${folder} ${why} ${work}`);
    } finally {
      await rm(join(work, probe), { force: true });
      await rm(join(folder, probe), { force: true });
    }
  }
}
