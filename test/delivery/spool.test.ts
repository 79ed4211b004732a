import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { createSpool } from '../../src/delivery/spool.js';
import type { StoredBody } from '../../src/delivery/port.js';
import { As4OnceError } from '../../src/errors.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

const KiB = 1_024;
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
let folder: TempDir;
beforeEach(() => {
  folder = tempDir('spool');
});
afterEach(() => {
  folder.remove();
});

const spoolOf = (limits: Partial<{ memoryPerBody: number; spoolMemory: number; spoolDisk: number }> = {}, directory = folder.path) =>
  createSpool({ limits: { memoryPerBody: 4 * KiB, spoolMemory: 16 * KiB, spoolDisk: 1_024 * KiB, ...limits }, directory, clock: systemClock });

async function keep(spool: ReturnType<typeof spoolOf>, bytes: Uint8Array, chunk = 1_000): Promise<StoredBody> {
  const sink = spool.open();
  for (let at = 0; at < bytes.byteLength; at += chunk) await sink.write(bytes.subarray(at, at + chunk));
  return await sink.finish();
}

async function all(body: StoredBody): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.stream()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function refusal(act: Promise<unknown>): Promise<string> {
  return await act.then(() => 'none', (error: unknown) => (error instanceof As4OnceError ? error.code : String(error)));
}

describe('a body', () => {
  it.each([0, 1, 4_096, 4_097, 10_000, 300_000])('of %i bytes comes back as it went in, as often as it is read', async (size) => {
    const bytes = randomBytes(size);
    const body = await keep(spoolOf(), bytes);
    expect(body.length).toBe(size);
    expect((await all(body)).equals(bytes)).toBe(true);
    const [one, two] = await Promise.all([all(body), all(body)]);
    expect(one.equals(bytes) && two.equals(bytes)).toBe(true);
    await body.dispose();
  });

  it('of 100 MB comes back identical and leaves memory and disk as they were', async () => {
    const spool = spoolOf({ memoryPerBody: 256 * KiB, spoolMemory: 64 * KiB * KiB, spoolDisk: 8 * KiB * KiB * KiB });
    const block = randomBytes(64 * KiB);
    const sink = spool.open();
    const went = createHash('sha256');
    for (let i = 0; i < 1_600; i += 1) {
      block.writeUInt32BE(i, 0);
      const chunk = Buffer.from(block);
      went.update(chunk);
      await sink.write(chunk);
    }
    const body = await sink.finish();
    expect(spool.counters).toMatchObject({ memoryBytes: 0, diskBytes: 104_857_600, files: 1 });
    const came = createHash('sha256');
    for await (const chunk of body.stream()) came.update(chunk);
    expect(came.digest('hex')).toBe(went.digest('hex'));
    await body.dispose();
    expect(spool.counters).toEqual({ memoryBytes: 0, diskBytes: 0, bodies: 0, files: 0, refused: 0 });
  });

  it('up to memoryPerBody lies in memory, beyond it in a file', async () => {
    const spool = spoolOf();
    const small = await keep(spool, randomBytes(4_096));
    expect(small.bytes?.byteLength).toBe(4_096);
    expect(spool.counters).toMatchObject({ memoryBytes: 4_096, diskBytes: 0, files: 0 });
    const long = await keep(spool, randomBytes(4_097));
    expect(long.bytes).toBeUndefined();
    expect(spool.counters).toMatchObject({ memoryBytes: 4_096, diskBytes: 4_097, files: 1, bodies: 2 });
    await Promise.all([small.dispose(), long.dispose()]);
    expect(spool.counters).toMatchObject({ memoryBytes: 0, diskBytes: 0, files: 0, bodies: 0 });
  });

  it('goes to a file when all bodies together reach spoolMemory', async () => {
    const spool = spoolOf();
    const bodies = [];
    for (let i = 0; i < 6; i += 1) bodies.push(await keep(spool, randomBytes(4_096)));
    expect(bodies.map((body) => body.bytes !== undefined)).toEqual([true, true, true, true, false, false]);
    expect(spool.counters).toMatchObject({ memoryBytes: 16 * KiB, diskBytes: 8_192, files: 2 });
    for (const body of bodies) await body.dispose();
  });

  it('in memory does not keep a large pooled buffer alive behind a small chunk', async () => {
    const pool = randomBytes(64 * KiB);
    const body = await keep(spoolOf(), pool.subarray(100, 200), 100);
    pool.fill(0);
    expect(body.bytes?.buffer.byteLength).toBeLessThan(KiB);
    expect((await all(body)).equals(Buffer.alloc(100))).toBe(false);
  });
});

describe('the spool file', () => {
  it('has no name, so that nothing is left behind whatever happens to the process', async () => {
    const spool = spoolOf();
    const body = await keep(spool, randomBytes(10_000));
    expect(await readdir(folder.path)).toEqual([]);
    await body.dispose();
  });

  it.skipIf(process.platform !== 'linux')('is readable by nobody else (mode 0600; read from /proc: Linux only)', async () => {
    const body = await keep(spoolOf(), randomBytes(10_000));
    const modes = [];
    for (const fd of await readdir('/proc/self/fd')) {
      const link = await readlink(`/proc/self/fd/${fd}`).catch(() => '');
      if (link.startsWith(folder.path)) modes.push((await stat(`/proc/self/fd/${fd}`)).mode & 0o777);
    }
    expect(modes).toEqual([0o600]);
    await body.dispose();
  });

  it('is made in a folder that is made where it is missing', async () => {
    const body = await keep(spoolOf({}, join(folder.path, 'a', 'b')), randomBytes(10_000));
    expect((await stat(join(folder.path, 'a', 'b'))).mode & 0o777).toBe(0o700);
    await body.dispose();
  });
});

async function refusedWhole(spool: ReturnType<typeof spoolOf>): Promise<void> {
  const sink = spool.open();
  expect(await refusal(sink.write(randomBytes(10_000)))).toBe('SPOOL_FULL');
  await sink.discard();
  expect(spool.counters).toMatchObject({ memoryBytes: 0, diskBytes: 0, bodies: 0, files: 0 });
}

describe('what does not fit', () => {
  it('is SPOOL_FULL at spoolDisk, and what was kept is freed by discard', async () => {
    const spool = spoolOf({ spoolDisk: 20_000 });
    const standing = await keep(spool, randomBytes(15_000));
    const sink = spool.open();
    await sink.write(randomBytes(4_000));
    expect(await refusal(sink.write(randomBytes(4_000)))).toBe('SPOOL_FULL');
    expect(await refusal(sink.finish())).toMatch(/INTERNAL/);
    await sink.discard();
    await sink.discard();
    expect(spool.counters).toMatchObject({ memoryBytes: 0, diskBytes: 15_000, bodies: 1, files: 1, refused: 1 });
    await standing.dispose();
    await (await keep(spool, randomBytes(15_000))).dispose();
    expect(spool.counters).toMatchObject({ diskBytes: 0, bodies: 0 });
  });

  it('is SPOOL_FULL where a file stands in the place of the folder', async () => {
    const directory = join(folder.path, 'spool');
    await writeFile(directory, '');
    await refusedWhole(spoolOf({}, directory));
  });

  it.skipIf(process.getuid?.() === 0)('is SPOOL_FULL where the folder may not be written (not as root, who may)', async () => {
    const directory = join(folder.path, 'spool');
    await mkdir(directory, { mode: 0o500 });
    await refusedWhole(spoolOf({}, directory));
  });

  // A spool below /proc hung for ever: mkdir answers ENOENT there although the parent exists, and Node's recursive mkdir
  // then makes the parent again and again. Now the folders are made level by level.
  it.skipIf(process.platform !== 'linux')('is SPOOL_FULL where no folder can be made (/proc: Linux only)', async () => {
    await refusedWhole(spoolOf({}, '/proc/self/spool'));
  });

  it.skipIf(!hasPrlimit)('is SPOOL_FULL where the system takes no more bytes (file size limit set by prlimit: needs it installed)', async () => {
    const spool = spoolOf();
    const sink = spool.open();
    await sink.write(randomBytes(10_000));
    const limit = (soft: string): void => void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${soft}:unlimited`]);
    limit('16384');
    try {
      expect(await refusal(sink.write(randomBytes(100_000)))).toBe('SPOOL_FULL');
    } finally {
      limit('unlimited');
    }
    await sink.discard();
    expect(spool.counters).toEqual({ memoryBytes: 0, diskBytes: 0, bodies: 0, files: 0, refused: 1 });
  });
});

describe('order of calls', () => {
  it('discard frees a body that was never finished; after finish only dispose does', async () => {
    const spool = spoolOf();
    const sink = spool.open();
    await sink.write(randomBytes(10_000));
    await sink.discard();
    expect(spool.counters).toMatchObject({ bodies: 0, diskBytes: 0, files: 0 });
    const finished = spool.open();
    await finished.write(randomBytes(10_000));
    const body = await finished.finish();
    await finished.discard();
    expect(spool.counters).toMatchObject({ bodies: 1, diskBytes: 10_000 });
    await body.dispose();
    await body.dispose();
    expect(spool.counters).toMatchObject({ bodies: 0, diskBytes: 0 });
  });

  it('a body that was disposed of cannot be read, not even half way', async () => {
    const body = await keep(spoolOf(), randomBytes(200_000));
    const reader = body.stream()[Symbol.asyncIterator]();
    await reader.next();
    await body.dispose();
    await expect(reader.next()).rejects.toBeInstanceOf(As4OnceError);
    await expect(all(body)).rejects.toBeInstanceOf(As4OnceError);
  });

  it('many bodies at once keep to themselves', async () => {
    const spool = spoolOf();
    const contents = Array.from({ length: 40 }, (_, i) => randomBytes(500 * i));
    const bodies = await Promise.all(contents.map((bytes) => keep(spool, bytes, 333)));
    for (const [i, body] of bodies.entries()) expect((await all(body)).equals(contents[i] ?? Buffer.alloc(0))).toBe(true);
    await Promise.all(bodies.map((body) => body.dispose()));
    expect(spool.counters).toMatchObject({ memoryBytes: 0, diskBytes: 0, bodies: 0, files: 0 });
  });
});
