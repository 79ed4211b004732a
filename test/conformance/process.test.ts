import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort, Program } from '../../conformance/peers/process.js';

describe('programs that the suite starts', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'as4-once-programs-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const program = (text: string) =>
    new Program(process.execPath, () => ['-e', text], { folder, log: join(folder, 'log'), ready: /READY/ });
  const serve = (port: number) => {
    const text = [
      "require('http').createServer((request, response) => response.end(String(process.pid)))",
      `.listen(${port}, '127.0.0.1', () => console.log('READY'))`,
    ].join('');
    return program(text);
  };
  const pid = async (port: number): Promise<string> => await (await fetch(`http://127.0.0.1:${port}/`)).text();

  // A store that was "started" twice left the first process behind without an owner, and the run never ended.
  test('starting what runs starts nothing; a restart is another process', async () => {
    const port = await freePort();
    const server = serve(port);
    await server.start();
    const first = await pid(port);
    await server.start();
    expect(await pid(port)).toBe(first);
    await server.restart('SIGKILL');
    expect(await pid(port)).not.toBe(first);
    await server.stop();
    await expect(pid(port)).rejects.toThrow();
    await server.stop();
  });

  test('one that ends at once says so, with its last words', async () => {
    const broken = program('console.error("no such store"); process.exit(4)');
    await expect(broken.start()).rejects.toThrow(/ended at once \(4\).*no such store/);
  });
});
