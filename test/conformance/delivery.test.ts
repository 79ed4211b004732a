import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommandCounter } from '../../conformance/delivery/command.js';
import { FolderCounter } from '../../conformance/delivery/folder.js';
import { HttpSink } from '../../conformance/delivery/sink.js';
import { CommandFailed } from '../../conformance/target/command.js';

const A = `as4c-${'a'.repeat(24)}`;
const B = `as4c-${'b'.repeat(24)}`;

describe('counting deliveries', () => {
  let root = '';
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'as4-once-delivery-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test('folder: files below, gzip, tokens apart; what is not finished does not count', async () => {
    const folder = join(root, 'one');
    const counter = new FolderCounter(folder);
    expect(await counter.count(A)).toBe(0);
    mkdirSync(join(folder, 'deep'), { recursive: true });
    writeFileSync(join(folder, 'first.xml'), `<x>${A}</x>`);
    writeFileSync(join(folder, 'deep', 'second.gz'), gzipSync(`${B} ${'filling '.repeat(50_000)}`));
    writeFileSync(join(folder, '.hidden'), A);
    writeFileSync(join(folder, 'third.tmp'), A);
    expect([await counter.count(A), await counter.count(B)]).toEqual([1, 1]);
    renameSync(join(folder, 'third.tmp'), join(folder, 'third.xml'));
    expect(await counter.count(A)).toBe(2);
    expect(await counter.count(A)).toBe(2);
  });

  // Oxalis-NG writes a duplicate over the first file: counting names shows one delivery where there were two.
  test('folder: a file that is written again in place counts again', async () => {
    const folder = join(root, 'again');
    mkdirSync(folder);
    const counter = new FolderCounter(folder);
    const file = join(folder, 'same-name.xml');
    writeFileSync(file, A);
    expect(await counter.count(A)).toBe(1);
    writeFileSync(file, A);
    const later = new Date(Date.now() + 5_000);
    utimesSync(file, later, later);
    expect(await counter.count(A)).toBe(2);
  });

  test('folder: a file that grows or gets another time is one delivery', async () => {
    const folder = join(root, 'grows');
    mkdirSync(folder);
    const counter = new FolderCounter(folder);
    const file = join(folder, 'slow.xml');
    writeFileSync(file, A);
    expect(await counter.count(A)).toBe(1);
    appendFileSync(file, ' and more');
    expect(await counter.count(A)).toBe(1);
    const original = new Date('2026-01-01T00:00:00Z');
    utimesSync(file, original, original);
    expect(await counter.count(A)).toBe(1);
  });

  test('HTTP: counts, refuses and is slow when told', async () => {
    const sink = await HttpSink.open({ host: '127.0.0.1', port: 0, accept: 204, refuse: 422 });
    const post = async (body: string | Uint8Array): Promise<number> =>
      (await fetch(sink.url, { method: 'POST', body })).status;
    try {
      expect(await post(`<x>${A}</x>`)).toBe(204);
      sink.backend.fail();
      expect(await post(A)).toBe(422);
      sink.backend.normal();
      expect(await post(new Uint8Array(gzipSync(B)))).toBe(204);
      expect([await sink.count(A), await sink.count(B)]).toEqual([1, 1]);
      sink.backend.slow(100);
      const late = post(A);
      expect(await sink.count(A)).toBe(1);
      await late;
      expect(await sink.count(A)).toBe(2);
    } finally {
      await sink.close();
    }
  });

  test('command: a line a delivery, the token as its last argument; a failing one says why', async () => {
    const print = 'console.log([process.argv[1], "x", process.argv[1]].join("\\n"))';
    expect(await new CommandCounter([process.execPath, '-e', print], root, 20_000).count(A)).toBe(2);
    const words = 'console.error("no database"); process.exit(3)';
    const fail = new CommandCounter([process.execPath, '-e', words], root, 20_000);
    await expect(fail.count(A)).rejects.toThrow(CommandFailed);
    await expect(fail.count(A)).rejects.toThrow(/no database/);
    const hang = new CommandCounter([process.execPath, '-e', 'setInterval(() => {}, 1000)'], root, 50);
    await expect(hang.count(A)).rejects.toThrow(/not finished after 50 ms/);
  });
});
