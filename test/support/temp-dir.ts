import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const open = new Set<string>();

function remove(path: string): void {
  open.delete(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

// A test that fails before its own clean-up still leaves nothing behind.
process.once('exit', () => {
  for (const path of [...open]) {
    try {
      remove(path);
    } catch {
      // a child may still write into it; the system's own clean-up takes the rest
    }
  }
});

export interface TempDir {
  readonly path: string;
  /** Removes the folder and everything in it. Idempotent. */
  remove(): void;
}

/** A fresh folder of its own; removed by `remove`, or when this process ends. */
export function tempDir(name = 'test'): TempDir {
  const path = mkdtempSync(join(tmpdir(), `as4-once-${name}-`));
  open.add(path);
  return { path, remove: () => remove(path) };
}
