import { readFileSync } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Small JSON files in the state folder: whole or as they were before, whoever reads them at whatever moment. */

let made = 0;

export async function writeState(folder: string, name: string, value: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  made += 1;
  const temporary = join(folder, `.${name}.${process.pid}-${made}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(value)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** The value; undefined where no such file is, or none that `valid` accepts: a note that cannot be read says nothing. */
export function readState<T>(folder: string, name: string, valid: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    return valid(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export async function removeState(folder: string, name: string): Promise<void> {
  await unlink(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
