import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemClock, type Clock } from '../clock.js';
import type { WatchConfig } from '../config/config.js';
import { As4OnceError } from '../errors.js';
import { ifThere } from './fs-errors.js';
import { randomHex, workName } from './work-file.js';

export interface Acceptance {
  readonly who: string;
  /** Epoch ms. */
  readonly when: number;
  readonly reason: string;
}

/** No watcher has this name, so whichever comes first takes the file. */
const NOBODY = '00000000';

/**
 * An operator lets a file out of quarantine, once: it goes into work marked as accepted, and the next pass delivers what
 * was refused as a mismatch, under a key that holds its content too. Why it was quarantined, and who accepted it, stays
 * beside as `<name>.accepted.json`. Throws USAGE for a file elsewhere, NOT_FOUND for one that is not there.
 */
export async function acceptFile(folders: readonly WatchConfig[], file: string, acceptance: Acceptance, clock: Clock = systemClock): Promise<WatchConfig> {
  const folder = dirname(resolve(file));
  const config = folders.find(({ folders: { quarantine } }) => resolve(quarantine) === folder);
  if (config === undefined) throw new As4OnceError('USAGE', `${file} lies in no quarantine of this configuration`);
  const name = basename(file);
  const reasonFile = join(folder, `${name}.reason.json`);
  const quarantined = await ifThere(readFile(reasonFile, 'utf8'));
  const token = randomHex({ clock }, 24);
  const into = join(config.folders.work, workName({ watcher: NOBODY, token, accepted: true, kind: 'inbound', name }));
  const note = { ...acceptance, when: new Date(acceptance.when).toISOString(), token, quarantined: quarantined === undefined ? undefined : (JSON.parse(quarantined) as object) };
  if ((await ifThere(rename(join(folder, name), into).then(() => true))) === undefined) {
    throw new As4OnceError('NOT_FOUND', `${file} is not there`);
  }
  await writeFile(join(folder, `${name}.accepted.json`), `${JSON.stringify(note, undefined, 2)}\n`);
  await rm(reasonFile, { force: true });
  return config;
}
