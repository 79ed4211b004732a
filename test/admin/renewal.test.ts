import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { systemClock } from '../../src/clock.js';
import { LiveConfig } from '../../src/config/live-config.js';
import { startCli } from '../support/child.js';
import type { OwnedProcess } from '../support/owned-process.js';
import { startRedis } from '../support/redis-server.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

const serial = (identity: Identity): string => identity.certificate.serialNumber;

let folder: TempDir;
let authority: Identity;
const file = (name: string): string => join(folder.path, name);
/** As renewal tools do it: written beside, then put in place in one step. */
const replace = (name: string, text: string): void => {
  writeFileSync(`${file(name)}.new`, text);
  renameSync(`${file(name)}.new`, file(name));
};
const replacePair = (name: string, identity: Identity): void => {
  replace(`${name}.pem`, identity.certificatePem);
  replace(`${name}.key`, identity.keyPem);
};

beforeAll(() => {
  authority = makeIdentity('Test CA');
});
beforeEach(() => {
  folder = tempDir('renewal');
});
afterEach(() => folder.remove());

describe('the configuration of a running server', () => {
  const write = (more = ''): void => writeFileSync(file('front.yaml'), `role: front
listen: 127.0.0.1:0
upstream: http://127.0.0.1:1/as4
accessPoint: other
ledger: { memory: true }
tls: { certificate: tls.pem, key: tls.key }
admin: { listen: "127.0.0.1:0", tokenFile: secrets/token }
${more}`);

  beforeEach(() => {
    replacePair('tls', makeIdentity('one'));
    replaceFolder('first', 'token-one');
    write();
  });

  /** As Kubernetes does it: the file lies behind a link to a folder that is swapped as a whole. */
  function replaceFolder(name: string, token: string): void {
    mkdirSync(file(name));
    writeFileSync(file(`${name}/token`), `${token}\n`);
    symlinkSync(file(name), file('secrets.new'));
    renameSync(file('secrets.new'), file('secrets'));
  }

  it('takes up what its secret files hold now, links to folders included', async () => {
    const live = await LiveConfig.open(file('front.yaml'), {}, systemClock);
    expect(live.config.admin?.token).toBe('token-one');
    expect(await live.refresh()).toBeUndefined();
    replaceFolder('second', 'token-two');
    expect((await live.refresh())?.admin?.token).toBe('token-two');
    expect(await live.refresh()).toBeUndefined();
  });

  it('waits with an edit of the file itself for its SIGHUP', async () => {
    const live = await LiveConfig.open(file('front.yaml'), {}, systemClock);
    write('defaults: { window: 7d }\n');
    expect(await live.refresh()).toBeUndefined();
    replaceFolder('second', 'token-two');
    expect((await live.refresh())?.routes[0]?.rules.defaults.window).not.toBe(7 * 86_400_000);
    expect((await live.reload()).routes[0]?.rules.defaults.window).toBe(7 * 86_400_000);
    expect(live.config.admin?.token).toBe('token-two');
  });

  it('does not use a renewal that is half done, and uses it when it is whole', async () => {
    const live = await LiveConfig.open(file('front.yaml'), {}, systemClock);
    const before = live.config;
    const next = makeIdentity('two');
    replace('tls.pem', next.certificatePem);
    await expect(live.refresh()).rejects.toThrow(/CONFIG_INVALID.*tls: certificate, key or authorities do not fit/);
    await expect(live.refresh()).rejects.toThrow(/do not fit/);
    expect(live.config).toBe(before);
    replace('tls.key', next.keyPem);
    expect(await live.refresh()).toBeDefined();
    expect(await live.refresh()).toBeUndefined();
  });

  it('keeps the old one where a file is gone or empty for a moment', async () => {
    const live = await LiveConfig.open(file('front.yaml'), {}, systemClock);
    rmSync(file('secrets/token'));
    await expect(live.refresh()).rejects.toThrow(/CONFIG_INVALID/);
    writeFileSync(file('secrets/token'), '');
    await expect(live.refresh()).rejects.toThrow(/CONFIG_INVALID/);
    writeFileSync(file('secrets/token'), 'token-three');
    expect((await live.refresh())?.admin?.token).toBe('token-three');
  });

  it('does not start with a key that does not fit', async () => {
    replace('tls.key', makeIdentity('other').keyPem);
    await expect(LiveConfig.open(file('front.yaml'), {}, systemClock)).rejects.toThrow(/CONFIG_INVALID.*tls: /);
  });
});

interface Got {
  readonly status: number;
  readonly body: string;
  /** Serial number of the certificate that the server showed. */
  readonly serial: string;
  readonly reused: boolean;
}

function get(url: string, agent: Agent | false, headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers, rejectUnauthorized: false }, (response) => {
      const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => void (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, serial: serialNumber, reused: asked.reusedSocket }));
    });
    asked.once('error', reject);
    asked.end();
  });
}

describe('a server whose certificates, keys and token are replaced under it', () => {
  let upstream: Server;
  let front: OwnedProcess | undefined;
  /** Serial numbers of the client certificates that the upstream was shown. */
  let shown: string[];
  let letGo: () => void;
  let held: Promise<void>;
  let arrived: () => void;
  let waiting: Promise<void>;

  beforeEach(async () => {
    shown = [];
    held = new Promise((resolve) => (letGo = resolve));
    waiting = new Promise((resolve) => (arrived = resolve));
    const theirs = makeIdentity('ap.test', { issuer: authority });
    upstream = createServer({ key: theirs.keyPem, cert: theirs.certificatePem, ca: authority.certificatePem, requestCert: true, rejectUnauthorized: true }, (asked, answer) => {
      shown.push((asked.socket as TLSSocket).getPeerCertificate().serialNumber);
      const reply = (): void => void answer.end(`answer to ${asked.url}`);
      if (asked.url !== '/as4/slow') return reply();
      arrived();
      void held.then(reply);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => front?.kill());
  afterEach(async () => {
    await front?.stop();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  });

  it('takes them up and drops no connection, neither ours nor the access point\'s', async () => {
    const [first, second] = [makeIdentity('first'), makeIdentity('second')];
    const [ours, renewed] = [makeIdentity('front', { issuer: authority }), makeIdentity('front', { issuer: authority })];
    replacePair('tls', first);
    replacePair('admin', first);
    replacePair('client', ours);
    replace('ca.pem', authority.certificatePem);
    replace('token', 'canary-token-one');
    writeFileSync(file('front.yaml'), `role: front
listen: 127.0.0.1:0
tls: { certificate: tls.pem, key: tls.key }
upstream:
  url: https://127.0.0.1:${(upstream.address() as AddressInfo).port}/as4
  tls: { ca: ca.pem, certificate: client.pem, key: client.key, serverName: ap.test }
accessPoint: other
ledger: { memory: true }
admin: { listen: "127.0.0.1:0", tokenFile: token, tls: { certificate: admin.pem, key: admin.key } }
`);
    const child = await startCli(['serve', '--config', file('front.yaml')], { ready: /as4-once listens on (\S+)[^]*as4-once admin on (\S+)/ });
    front = child;
    const [, url = '', admin = ''] = child.ready as RegExpMatchArray;
    const status = async (token: string): Promise<number> => (await get(`${admin}/api/status`, false, { authorization: `Bearer ${token}` })).status;

    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await get(`${url}/quick`, agent)).toMatchObject({ body: 'answer to /as4/quick', serial: serial(first) });
    expect(await status('canary-token-one')).toBe(200);
    expect((await get(`${admin}/`, false)).body).toContain('<title>as4-once</title>');
    const slow = get(`${url}/slow`, false);
    await waiting;

    // half a renewal: said once, nothing changes
    replace('tls.pem', second.certificatePem);
    await child.waitFor(/"event":"renewed","error":"[^"]*tls: certificate, key or authorities do not fit/);
    expect((await get(`${url}/quick`, false)).serial).toBe(serial(first));
    expect(await status('canary-token-one')).toBe(200);

    replacePair('tls', second);
    replacePair('admin', second);
    replacePair('client', renewed);
    replace('token', 'canary-token-two');
    await child.waitFor(/"event":"renewed","msg":"certificates, keys or secrets were replaced/);
    // the look may have come between two of the files; then the next one brings the rest
    await vi.waitFor(async () => expect(await status('canary-token-two')).toBe(200), { timeout: 20_000, interval: 200 });

    expect(await get(`${url}/quick`, false)).toMatchObject({ body: 'answer to /as4/quick', serial: serial(second) });
    expect((await get(`${admin}/readyz`, false)).serial).toBe(serial(second));
    expect(await status('canary-token-one')).toBe(401);
    expect(await get(`${url}/quick`, agent)).toMatchObject({ body: 'answer to /as4/quick', reused: true });
    expect([shown[0], shown.at(-1)]).toEqual([serial(ours), serial(renewed)]);
    letGo();
    expect(await slow).toMatchObject({ status: 200, body: 'answer to /as4/slow', serial: serial(first) });
    agent.destroy();
    expect(child.stdout() + child.stderr()).not.toMatch(/canary|PRIVATE KEY/);
  });

  it('takes up a new password of Redis before the old one ends', async () => {
    const redis = await startRedis();
    const letIn = (password: string): Promise<unknown> => redis.command('ACL', 'SETUSER', 'front', 'on', `>${password}`, '~*', '&*', '+@all');
    await letIn('canary-one');
    replace('redis-password', 'canary-one');
    replace('token', 'canary-token');
    writeFileSync(file('front.yaml'), `role: front
listen: 127.0.0.1:0
upstream: http://127.0.0.1:1/as4
accessPoint: other
ledger: { redis: { url: "${redis.url}", username: front, passwordFile: redis-password } }
admin: { listen: "127.0.0.1:0", tokenFile: token }
`);
    const child = await startCli(['serve', '--config', file('front.yaml')], { ready: /as4-once listens on (\S+)[^]*as4-once admin on (\S+)/ });
    front = child;
    const [, , admin = ''] = child.ready as RegExpMatchArray;
    const health = async (): Promise<string> => ((await (await fetch(`${admin}/api/health`)).json()) as { ledger: { up: boolean } }).ledger.up ? 'up' : 'down';
    expect(await health()).toBe('up');
    await letIn('canary-two');
    replace('redis-password', 'canary-two');
    await child.waitFor(/"event":"renewed","msg":"certificates, keys or secrets were replaced/);
    await redis.command('ACL', 'SETUSER', 'front', '<canary-one');
    await redis.command('CLIENT', 'KILL', 'USER', 'front');
    await vi.waitFor(async () => expect(await health()).toBe('up'), { timeout: 20_000 });
    expect(child.stdout() + child.stderr()).not.toContain('canary');
    await child.stop();
    await redis.close();
  });
});
