import { createHash } from 'node:crypto';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { missing } from './fs-errors.js';
import type { Watching } from './watching.js';

/**
 * A file in work. Its name says whose it is and under which token it claims: `<watcher>.<token>-<name>`; `!` behind the
 * token: an operator accepted it; `+` instead of `-`: an acknowledgement. What lies in work was not delivered, so a file
 * that is found there is simply worked on again, under its own token.
 */
export interface WorkFile {
  readonly watcher: string;
  readonly token: string;
  readonly accepted: boolean;
  readonly kind: 'inbound' | 'acknowledgement';
  /** The name it arrived under. */
  readonly name: string;
  readonly path: string;
}

const NAME = /^([0-9a-f]{8})\.([0-9a-f]{24})(!?)([-+])(.+)$/s;
/** Bytes of a name that leave room for watcher and token; longest name of the usual file systems is 255. */
export const LONGEST_NAME = 200;

export function workName({ watcher, token, accepted, kind, name }: Omit<WorkFile, 'path'>): string {
  return `${watcher}.${token}${accepted ? '!' : ''}${kind === 'inbound' ? '-' : '+'}${name}`;
}

export function newToken(watching: Pick<Watching, 'clock'>): string {
  return randomHex(watching, 24);
}

/** Digits out of the clock's fresh identifiers, whatever form those have. */
export function randomHex({ clock }: Pick<Watching, 'clock'>, digits: number): string {
  return createHash('sha256').update(clock.id()).digest('hex').slice(0, digits);
}

/** The files in work, in the order of their names. Other entries there (dot names) are ours too, but no files in work. */
export async function listWork(folder: string): Promise<WorkFile[]> {
  const found: WorkFile[] = [];
  for (const entry of (await readdir(folder)).sort()) {
    const [, watcher, token, accepted, kind, name] = NAME.exec(entry) ?? [];
    if (watcher === undefined || token === undefined || name === undefined) continue;
    found.push({ watcher, token, accepted: accepted === '!', kind: kind === '+' ? 'acknowledgement' : 'inbound', name, path: join(folder, entry) });
  }
  return found;
}

/** Takes a file from a folder into work: one rename, so that of two watchers one gets it. Undefined: it is gone. */
export async function take(watching: Watching, folder: string, name: string, kind: WorkFile['kind']): Promise<WorkFile | undefined> {
  const file = { watcher: watching.id, token: newToken(watching), accepted: false, kind, name };
  return await renamed(join(folder, name), watching, file);
}

/** Takes over what another watcher left, or goes on under another token. Undefined: somebody else was faster. */
export async function retake(watching: Watching, file: WorkFile, token = file.token): Promise<WorkFile | undefined> {
  return await renamed(file.path, watching, { ...file, watcher: watching.id, token });
}

async function renamed(from: string, { config }: Watching, file: Omit<WorkFile, 'path'>): Promise<WorkFile | undefined> {
  const path = join(config.folders.work, workName(file));
  try {
    await rename(from, path);
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
  return { ...file, path };
}
