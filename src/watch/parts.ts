import { createWriteStream } from 'node:fs';
import { chmod, copyFile, link, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pick, remainder, shares, type Range } from '../edi/cut.js';
import { PARTS } from './folders.js';
import { codeOf, ifThere } from './fs-errors.js';
import { reserve } from './move-into.js';
import { streamOf, type Contents, type Unit } from './units.js';
import { workName, type WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/**
 * `mixed: cut`. Replaces the file in work by one without the given messages, in one rename; before, the whole file is
 * kept in duplicates under the name returned, with the report beside it. Whatever happens between, the file in work is
 * either whole or cut, and both are worked on in the same way.
 */
export async function cutOut(watching: Watching, file: WorkFile, { size, units }: Contents, drop: ReadonlySet<Unit>, report: object): Promise<string> {
  const { config, step } = watching;
  const draft = join(config.folders.work, PARTS, `${file.token}.cut`);
  step('cut');
  await writePart(file.path, draft, remainder(units, size, (index) => drop.has(units[index] as Unit)));
  const kept = await reserve(watching, 'duplicates', file.token, file.name, (await stat(file.path)).ino);
  try {
    if (!kept.there) await keepCopy(watching, file, kept.path, { ...report, whole: kept.name });
    await rename(draft, file.path);
    step('replaced');
  } finally {
    await kept.letGo();
  }
  return kept.name;
}

/** The whole file as it came, and what was done with it. Its link or copy appears at once and whole. */
async function keepCopy({ config }: Watching, file: WorkFile, path: string, report: object): Promise<void> {
  const draft = join(config.folders.work, PARTS, `${file.token}.whole`);
  await rm(draft, { force: true });
  try {
    await link(file.path, draft);
  } catch (error) {
    // no hard links here (SMB, FUSE)
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(error))) throw error;
    await copyFile(file.path, draft);
    await sameLooks(file.path, draft);
  }
  const text = join(config.folders.work, PARTS, `${file.token}.report`);
  await writeText(text, report);
  await rename(text, `${path}.report.json`);
  await rename(draft, path);
}

/**
 * `mixed: split`. Makes each message of the file a file of its own in work, under a token of its own. Until the whole
 * file has been moved among its parts nothing counts; from then on the parts do (`finishSplits`).
 */
export async function splitUp(watching: Watching, file: WorkFile, { size, units }: Contents): Promise<void> {
  const { config, step } = watching;
  const folder = join(config.folders.work, PARTS, `${file.token}.split`);
  step('split');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const parts = shares(units, size);
  for (const [index, part] of parts.entries()) {
    const token = `${file.token.slice(0, STEM)}${index.toString(16).padStart(24 - STEM, '0')}`;
    await writePart(file.path, join(folder, workName({ ...file, token })), [part]);
  }
  await rename(file.path, join(folder, WHOLE));
  step('committed');
  await promote(watching, folder);
}

const WHOLE = '.whole';
/** Digits of a token that its parts share. */
const STEM = 16;

export function isPartOf(part: string, whole: string): boolean {
  return part !== whole && part.slice(0, STEM) === whole.slice(0, STEM);
}

/** Goes on with splits that a crash interrupted; one that was not committed is undone, its file still lies in work. */
export async function finishSplits(watching: Watching, isGone: (watcher: string) => Promise<boolean>): Promise<void> {
  const parts = join(watching.config.folders.work, PARTS);
  for (const name of await readdir(parts)) {
    if (!name.endsWith('.split')) continue;
    const folder = join(parts, name);
    const entries = (await ifThere(readdir(folder))) ?? [];
    const watcher = entries.find((entry) => entry !== WHOLE)?.slice(0, 8);
    if (watcher !== undefined && watcher !== watching.id && !(await isGone(watcher))) continue;
    if (entries.includes(WHOLE)) await promote(watching, folder);
  }
}

async function promote({ config, step }: Watching, folder: string): Promise<void> {
  for (const entry of (await ifThere(readdir(folder))) ?? []) {
    if (entry !== WHOLE) await ifThere(rename(join(folder, entry), join(config.folders.work, entry)));
    step('promoted');
  }
  await rm(folder, { recursive: true, force: true });
}

async function writePart(from: string, to: string, ranges: readonly Range[]): Promise<void> {
  await pipeline(pick(streamOf(from), ranges), createWriteStream(to, { flush: true }));
  await sameLooks(from, to);
}

async function writeText(path: string, content: object): Promise<void> {
  await pipeline([`${JSON.stringify(content, undefined, 2)}\n`], createWriteStream(path));
}

/** Mode and times of the file it was made from. */
async function sameLooks(from: string, to: string): Promise<void> {
  const { mode, atimeMs, mtimeMs } = await stat(from);
  await chmod(to, mode & 0o777);
  await utimes(to, atimeMs / 1_000, mtimeMs / 1_000);
}
