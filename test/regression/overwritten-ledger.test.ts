// 50,000 random bytes were written over the file of an embedded ledger. `serve` ended with SIGSEGV and said nothing: LMDB
// does not survive meta pages that are none. They are looked at before it opens the file.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startFront, stopFronts, type Front } from '../front/front-process.js';
import { runCli } from '../support/child.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

let folder: TempDir;
let front: Front;
let file: string;
beforeEach(async () => {
  folder = tempDir('overwritten');
  file = join(folder.path, 'data.mdb');
  front = await startFront({ upstream: 'http://127.0.0.1:9/as4', ledger: { embedded: folder.path } });
  await front.stop();
});
afterEach(async () => {
  await stopFronts();
  folder.remove();
});

function overwrite(bytes: Uint8Array, at: number): void {
  const opened = openSync(file, 'r+');
  writeSync(opened, bytes, 0, bytes.length, at);
  closeSync(opened);
}

it.each<[string, () => void]>([
  ['its beginning overwritten', () => overwrite(randomBytes(50_000), 0)],
  ['its second page overwritten', () => overwrite(Buffer.alloc(4_096, 0xaa), readFileSync(file).readUInt32LE(48))],
  ['a text in its place', () => writeFileSync(file, 'not a ledger')],
])('%s: serve and the commands say so in one sentence, and change nothing', async (_, damage) => {
  damage();
  const before = readFileSync(file);
  for (const command of [['serve'], ['list', '--held']]) {
    const { code, signal, stdout, stderr } = await runCli([...command, '--config', front.configFile]);
    expect([signal, code]).toEqual([null, 1]);
    expect(stdout + stderr).toMatch(/RECORD_UNREADABLE: \S*data\.mdb is damaged \(.*\); put a backup in its place/);
  }
  expect(readFileSync(file).equals(before)).toBe(true);
});
