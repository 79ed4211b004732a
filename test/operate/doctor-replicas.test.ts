import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Finding } from '../../src/operate/doctor.js';
import { runCli } from '../support/child.js';
import { startRedis } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';

const toClose: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of toClose.splice(0).toReversed()) await close();
});

/** The doctor said nothing of replicas unless too few of them stood in the way of a claim. */
it('the doctor says how many replicas keep what the server has', async () => {
  const folder = tempDir('doctor');
  const master = await startRedis({ 'repl-diskless-sync-delay': 0 });
  toClose.push(() => folder.remove(), () => master.close());
  const file = join(folder.path, 'front.yaml');
  writeFileSync(file, `role: front\nlisten: 127.0.0.1:0\nupstream: http://127.0.0.1:9/as4\naccessPoint: other\nledger: { redis: "${master.url}" }\n`);
  const replicas = async (): Promise<Finding | undefined> => {
    const { stdout } = await runCli(['doctor', '--config', file, '--json']);
    return (JSON.parse(stdout) as Finding[]).find(({ what }) => what === 'replicas');
  };
  expect(await replicas()).toMatchObject({ level: 'ok', text: 'none is connected: what that server loses is lost' });
  const replica = await startRedis({ replicaof: `127.0.0.1 ${master.port}` });
  toClose.push(() => replica.close());
  await expect.poll(() => master.info('connected_slaves'), { timeout: 30_000 }).toBe('1');
  expect(await replicas()).toMatchObject({ level: 'ok', text: expect.stringMatching(/^the server has at least 1;/) as string });
  await master.command('ACL', 'SETUSER', 'default', '-info');
  expect(await replicas()).toMatchObject({ level: 'warn', text: expect.stringMatching(/INFO is not allowed/) as string });
});
