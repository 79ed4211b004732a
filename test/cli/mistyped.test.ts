import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFront, type Ledger } from '../../src/index.js';
import { runCli } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';

/** What people really type: one sentence each, a documented exit code, no stack, and no process that only looks alive. */
function configIn(folder: string, more = ''): string {
  const file = join(folder, 'front.yaml');
  writeFileSync(file, `role: front\nlisten: 127.0.0.1:0\nupstream: http://127.0.0.1:9/as4\naccessPoint: other\nledger: { embedded: ./data }\n${more}`);
  return file;
}

describe('mistyped and misplaced', () => {
  it.each(['traffic', 'admin'])('serve ends where its %s address is taken', async (which) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const at = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const { path } = tempDir();
    const file = configIn(path, which === 'admin' ? `admin: { listen: "${at}", token: tttttttttttttttt }\n` : '');
    if (which === 'traffic') writeFileSync(file, `role: front\nlisten: "${at}"\nupstream: http://127.0.0.1:9/as4\naccessPoint: other\nledger: { embedded: ./data }\n`);
    const { code, stderr } = await runCli(['serve', '--config', file]);
    taken.close();
    expect(code).toBe(75);
    expect(stderr).toMatch(new RegExp(`LISTEN_FAILED: ${at} \\(EADDRINUSE\\)`));
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('serve ends where the ledger\'s folder cannot be made', async () => {
    const { path } = tempDir();
    writeFileSync(join(path, 'data'), 'a file');
    const { code, stderr } = await runCli(['serve', '--config', configIn(path)]);
    expect(code).toBe(75);
    expect(stderr).toMatch(/LEDGER_DOWN: .*data/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('a YAML alias that holds itself is a bad file, not a fault', async () => {
    const { path } = tempDir();
    writeFileSync(join(path, 'loop.yaml'), '&a [*a]');
    const { code, stderr } = await runCli(['check', '--config', join(path, 'loop.yaml')]);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/RangeError/);
  });

  it('a Receipt that is not there, and two ids at once', async () => {
    const { path } = tempDir();
    const file = configIn(path);
    const missing = await runCli(['settle', 'm1', '--receipt', join(path, 'none.xml'), '--reason', 'x', '--config', file]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/none\.xml cannot be read \(ENOENT\)/)]);
    for (const args of [['show', 'a', 'b'], ['release', 'a', 'b', '--reason', 'x']]) {
      const two = await runCli([...args, '--config', file]);
      expect([two.code, two.stderr]).toEqual([2, expect.stringMatching(/one message id at a time/)]);
    }
  });

  it('createFront says that a ledger has to be awaited', () => {
    const promised = Promise.resolve() as unknown as Ledger;
    expect(() => createFront({ upstream: 'http://127.0.0.1:9/as4', accessPoint: 'other', ledger: promised })).toThrow(/await it/);
  });
});
