import { lstat, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { RESERVED } from './folders.js';
import { exists, ifThere } from './fs-errors.js';
import { listWork, type WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/** Which of the folders a file goes to. */
export type Target = 'out' | 'duplicates' | 'refused' | 'quarantine' | 'ackOut';

/** Names tried before giving up: orders.edi, orders~2.edi, … */
const TRIES = 10_000;
/** Reservations of watchers that died behind their rename are swept when so old, ms. */
const STALE = 600_000;

/** A name in a folder that is this file's alone: until it is let go, no other watcher uses it. */
export interface Reservation {
  readonly name: string;
  readonly path: string;
  /** The very file that the name is wanted for lies there already, from before a crash. */
  readonly there: boolean;
  letGo(): Promise<void>;
}

/**
 * Reserves a name in a target folder, exclusively among watchers, that no file has there (or only the file `inode`). A
 * reservation that this very token made before a crash is its own.
 */
export async function reserve({ config, step }: Watching, target: Target, token: string, wanted: string, inode?: number): Promise<Reservation> {
  step('reserve');
  const folder = config.folders[target];
  if (folder === undefined) throw new TypeError(`no folder ${target}`);
  const reserved = join(config.folders.work, RESERVED, target);
  for (let n = 1; n <= TRIES; n += 1) {
    const name = n === 1 ? wanted : numbered(wanted, n);
    const mark = join(reserved, name);
    if (!(await reserveMark(mark, token))) continue;
    const letGo = (): Promise<void> => rm(mark, { force: true });
    const standing = await ifThere(lstat(join(folder, name)));
    const there = standing !== undefined && standing.ino === inode;
    if (standing === undefined || there) {
      step('reserved');
      return { name, path: join(folder, name), there, letGo };
    }
    await letGo();
  }
  throw new Error(`${folder} holds ${TRIES} files named like ${wanted}`);
}

/** True where the mark is ours, now or from before a crash. */
async function reserveMark(mark: string, token: string): Promise<boolean> {
  try {
    await writeFile(mark, token, { flag: 'wx' });
    return true;
  } catch (error) {
    if (!exists(error)) throw error;
    return (await ifThere(readFile(mark, 'utf8'))) === token;
  }
}

/**
 * The last step of every file: one rename out of work, under a name that was reserved. `beside` is written next to it
 * first, as `<name>.<suffix>.json`. Returns the name it got; undefined: somebody else took the file over meanwhile.
 */
export async function moveInto(watching: Watching, file: WorkFile, target: Target, beside?: { readonly suffix: string; readonly content: object }): Promise<string | undefined> {
  const reservation = await reserve(watching, target, file.token, file.name);
  try {
    if (beside !== undefined) await writeBeside(watching, reservation.path, file.token, beside);
    watching.step('move');
    const moved = await ifThere(rename(file.path, reservation.path).then(() => true));
    watching.step('moved');
    if (moved !== undefined) await persist(watching, target);
    return moved === undefined ? undefined : reservation.name;
  } finally {
    await reservation.letGo();
  }
}

/** Whole or not at all: written in work, then renamed. */
async function writeBeside({ config }: Watching, path: string, token: string, { suffix, content }: { readonly suffix: string; readonly content: object }): Promise<void> {
  const draft = join(config.folders.work, `.beside-${token}`);
  await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`);
  await rename(draft, `${path}.${suffix}.json`);
}

/** A power cut must not bring a delivered file back into work. Where folders cannot be synced the file system decides. */
async function persist({ config }: Watching, target: Target): Promise<void> {
  if (target !== 'out') return;
  for (const folder of [config.folders.out, config.folders.work]) {
    const handle = await open(folder, 'r').catch(() => undefined);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }
}

/** Lets go what watchers reserved that died between their rename and their clean-up. */
export async function sweepReservations({ config, clock }: Watching): Promise<void> {
  for (const target of (await ifThere(readdir(join(config.folders.work, RESERVED)))) ?? []) {
    const folder = join(config.folders.work, RESERVED, target);
    const marks = (await ifThere(readdir(folder))) ?? [];
    const working = new Set((await listWork(config.folders.work)).map(({ token }) => token));
    for (const mark of marks) {
      const path = join(folder, mark);
      const age = clock.now() - ((await ifThere(stat(path)))?.mtimeMs ?? Infinity);
      const token = await ifThere(readFile(path, 'utf8'));
      if (token !== undefined && age > STALE && !working.has(token)) await rm(path, { force: true });
    }
  }
}

/** `orders.edi` as `orders~2.edi`: consumers look at extensions. */
function numbered(name: string, n: number): string {
  const extension = extname(name);
  return `${basename(name, extension)}~${n}${extension}`;
}
