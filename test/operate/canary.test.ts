import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startFrontFrom, stopFronts, type Front } from '../front/front-process.js';
import { freshId, message, post } from '../front/messages.js';
import { receipt } from '../support/scripted-answers.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { operator, program } from './operator.js';

/** Every secret the configuration can hold, each told apart, so that a leak names itself. */
const SECRETS = { redis: 'canary-redis-8d1f', token: 'canary-token-77aa', upstream: 'canary-upstream-19be' };

describe('secrets', () => {
  const folder = tempDir('canary');
  const file = (name: string): string => join(folder.path, name);
  const configFile = file('front.yaml');
  const env = { REDIS_PASSWORD: SECRETS.redis };
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let front: Front;
  const id = freshId();
  const outputs = new Map<string, string>();

  beforeAll(async () => {
    redis = await startRedis({ requirepass: SECRETS.redis });
    upstream = await startUpstream(receipt());
    writeFileSync(file('token'), `${SECRETS.token}\n`);
    const url = new URL(upstream.url);
    url.username = 'front';
    url.password = SECRETS.upstream;
    writeFileSync(configFile, stringify({
      role: 'front', listen: '127.0.0.1:0', admin: { listen: '127.0.0.1:0', tokenFile: 'token' }, accessPoint: 'phase4', upstream: url.href,
      ledger: { redis: `redis://:\${REDIS_PASSWORD}@127.0.0.1:${redis.port}` }, defaults: { keepHeader: '1d' }, times: { ledgerOutage: '200ms' },
    }));
    front = await startFrontFrom(configFile, env);
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await redis.close();
    folder.remove();
  });

  let round = '';
  const run = async (...args: string[]): Promise<void> => {
    const { stdout, stderr } = await operator(configFile, env)(...args);
    expect(stdout + stderr).not.toBe('');
    outputs.set(`${round}: as4-once ${args.join(' ')}`, stdout + stderr);
  };
  const everyCommand = async (now: string): Promise<void> => {
    round = now;
    for (const args of [['show', id], ['list', '--held'], ['status'], ['report'], ['report', '--csv'], ['report', '--shadow'], ['ledger', 'status'], ['list', '--uncertain']]) {
      await run(...args);
      if (!args.includes('--csv')) await run(...args, '--json');
    }
    for (const args of [['check', '--config', configFile], ['doctor', '--config', configFile]]) {
      await run(...args);
      await run(...args, '--json');
    }
    await run('evidence', id, '-o', file(`evidence-${round}.zip`), '--log', file('as4.log'));
    await run('bypass', 'status');
    await run('forget', '--party', 'nobody', '--dry-run');
    await run('import', file('as4.log'));
    await run('ledger', 'backup', file(`backup-${round}`));
    await run('release', id, '--reason', 'none');
  };

  it('stand in no output of any command, log, page, or file we write; with the store up, and with it down', async () => {
    expect((await post(front.url, message(id))).status).toBe(200);
    writeFileSync(file('as4.log'), front.process.stdout());
    await everyCommand('up');
    for (const path of ['/healthz', '/readyz', '/healthz/ledger', '/metrics', '/api/health', '/api/status']) {
      outputs.set(path, await (await fetch(`${front.admin}${path}`)).text());
      outputs.set(`${path} as operator`, await (await fetch(`${front.admin}${path}`, { headers: { authorization: `Bearer ${SECRETS.token}` } })).text());
    }
    await redis.stop();
    await post(front.url, message(freshId()));
    await everyCommand('down');
    outputs.set('/healthz down', await (await fetch(`${front.admin}/healthz`)).text());
    front.process.signal('SIGHUP');
    await front.logged({ event: 'reload' });
    await front.stop();
    outputs.set('log', front.process.stdout() + front.process.stderr());
    mkdirSync(file('unzipped'));
    await program('python3', ['-m', 'zipfile', '-e', file('evidence-up.zip'), file('unzipped')], folder.path);
    await program('sh', ['-c', 'gunzip -k backup-up/*.gz'], folder.path);
    for (const path of everyFile(folder.path)) {
      if (!path.endsWith('/token')) outputs.set(path, readFileSync(path, 'latin1'));
    }
    expect(outputs.get(file('unzipped/message/root-part.xml'))).toContain(id);
    expect(outputs.size).toBeGreaterThan(60);
    const leaks = [...outputs].flatMap(([where, text]) => Object.entries(SECRETS).flatMap(([name, secret]) => {
      const at = text.indexOf(secret);
      return at < 0 || (where === configFile && name === 'upstream') ? [] : [`${name} in ${where}: …${text.slice(Math.max(0, at - 60), at + 60)}…`];
    }));
    expect(leaks).toEqual([]);
  });
});

function everyFile(under: string): string[] {
  return readdirSync(under).flatMap((name) => {
    const path = join(under, name);
    return statSync(path).isDirectory() ? everyFile(path) : [path];
  });
}
