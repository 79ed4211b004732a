import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { ROOT, startCli } from '../support/child.js';
import { freePort } from '../support/free-port.js';
import { as4Message } from '../support/messages.js';
import { startProcess, type OwnedProcess } from '../support/owned-process.js';
import { after, hang, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startRedis } from '../support/redis-server.js';
import { send, type Answer } from '../support/send.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';
import { eventually, startFront, stopFronts, writeSettings, type Settings } from '../front/front-process.js';
import { freshId, gate, message, post, refersTo } from '../front/messages.js';

let folder: TempDir;
let upstream: ScriptedUpstream;
let authority: Identity;
beforeAll(() => {
  authority = makeIdentity('door authority');
});
beforeEach(async () => {
  folder = tempDir('door');
  upstream = await startUpstream(receipt());
});
afterEach(async () => {
  await stopFronts();
  await upstream.close();
  folder.remove();
});
const settings = (more: Settings = {}): Settings => ({
  upstream: upstream.url,
  ledger: { embedded: join(folder.path, 'ledger') },
  ...more,
});
const pem = (name: string, text: string): string => {
  const file = join(folder.path, name);
  writeFileSync(file, text);
  return file;
};

/** Over TLS, trusting the test's own authority. */
function sendTls(
  url: string,
  built: { body: Uint8Array; headers: Readonly<Record<string, string>> },
  own?: Identity,
): Promise<Answer> {
  const agent = new Agent({
    ca: authority.certificatePem,
    servername: 'as4.example.org',
    ...(own === undefined ? {} : { cert: own.certificatePem, key: own.keyPem }),
    checkServerIdentity: () => undefined,
  });
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(
      url,
      { method: 'POST', agent, headers: { ...built.headers, 'content-length': String(built.body.length) } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.once('error', reject);
        incoming.once('end', () =>
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
        );
      },
    );
    outgoing.once('error', reject);
    outgoing.end(built.body);
  });
}

describe('TLS at the traffic listener', () => {
  it('serves messages, and asks for a client certificate where it is told to', async () => {
    const server = makeIdentity('as4.example.org', { issuer: authority });
    const partner = makeIdentity('partner', { issuer: authority });
    const file = join(folder.path, 'front.yaml');
    writeSettings(
      file,
      settings({
        tls: {
          certificate: pem('server.pem', server.certificatePem),
          key: pem('server.key', server.keyPem),
          clientCa: pem('ca.pem', authority.certificatePem),
          clientAuth: 'require',
        },
      }),
    );
    const process = await startCli(['serve', '--config', file], { ready: /as4-once listens on (https:\/\/\S+)/ });
    const url = `${process.ready![1]}/as4`;
    const id = freshId();
    const first = await sendTls(url, message(id), partner);
    expect([first.status, refersTo(first.body)]).toEqual([200, id]);
    expect((await sendTls(url, message(id), partner)).body.equals(first.body)).toBe(true);
    await expect(sendTls(url, message(freshId()))).rejects.toThrow();
    await expect(sendTls(url, message(freshId()), makeIdentity('self-signed'))).rejects.toThrow();
    expect(upstream.requests).toHaveLength(1);
    await process.stop();
  });
});

/** With trustProxy the access point was told the sender's address twice, and the proxy's never. */
describe('whom a request comes from', () => {
  it.each<[string, unknown, string, string]>([
    ['nobody is believed', false, '127.0.0.1', '203.0.113.7, 198.51.100.2, 127.0.0.1'],
    ['everybody is believed', true, '203.0.113.7', '203.0.113.7, 198.51.100.2, 127.0.0.1'],
    ['the nearest hop is believed', 1, '198.51.100.2', '203.0.113.7, 198.51.100.2, 127.0.0.1'],
    [
      'two networks are believed',
      ['127.0.0.0/8', '198.51.100.0/24'],
      '203.0.113.7',
      '203.0.113.7, 198.51.100.2, 127.0.0.1',
    ],
  ])('trustProxy: %s', async (_what, trustProxy, peer, forwarded) => {
    const front = await startFront(settings({ trustProxy }));
    const id = freshId();
    await send(front.url, message(id), { headers: { 'X-Forwarded-For': '203.0.113.7, 198.51.100.2' } });
    expect((await front.logged({ event: 'exchange', messageId: id }))['peer']).toBe(peer);
    // the access point is told the whole chain, and whoever spoke to us last
    expect(upstream.requests[0]!.header('x-forwarded-for')).toBe(forwarded);
  });

  it('hop-by-hop fields stay on their hop, in both directions, also those that Connection names', async () => {
    const front = await startFront(settings());
    upstream.next(
      receipt({
        headers: {
          Connection: 'close, X-Hop',
          'X-Hop': '1',
          'Keep-Alive': 'timeout=5',
          'Proxy-Authenticate': 'Basic',
          'X-End': '2',
        },
      }),
    );
    const answer = await send(front.url, message(freshId()), {
      headers: {
        Connection: 'close, X-Secret-Hop',
        'X-Secret-Hop': '1',
        TE: 'trailers',
        'Proxy-Authorization': 'Basic xyz',
        'X-End': '2',
      },
    });
    const [request] = upstream.requests;
    for (const name of ['x-secret-hop', 'te', 'proxy-authorization', 'keep-alive', 'upgrade'])
      expect(request!.header(name), name).toBeUndefined();
    expect(request!.header('x-end')).toBe('2');
    for (const name of ['x-hop', 'proxy-authenticate']) expect(answer.headers[name], name).toBeUndefined();
    expect(answer.headers['x-end']).toBe('2');
  });
});

describe('health', () => {
  it('a path of the traffic port for load balancers; the loss of the ledger makes no node unready', async () => {
    const redis = await startRedis();
    const front = await startFront(
      settings({
        ledger: { redis: redis.url },
        healthPath: '/health',
        times: { ledgerOutage: '200ms' },
        journal: join(folder.path, 'j'),
        state: join(folder.path, 's'),
      }),
    );
    const get = async (url: string): Promise<number> => (await fetch(url)).status;
    const traffic = new URL('/health', front.url).href;
    expect([
      await get(traffic),
      await get(`${front.admin}/readyz`),
      await get(`${front.admin}/healthz/ledger`),
    ]).toEqual([200, 200, 200]);
    await redis.stop();
    await eventually(
      async () => ((await get(`${front.admin}/healthz/ledger`)) === 503 ? true : undefined),
      () => 'the loss to be seen',
    );
    expect([await get(traffic), await get(`${front.admin}/readyz`), await get(`${front.admin}/healthz`)]).toEqual([
      200, 200, 200,
    ]);
    // and whoever sends meets a 503 of ours, not a closed door
    expect((await post(front.url, message(freshId()))).body.toString()).toMatch(/^LEDGER_DOWN/);
    await redis.close();
  });
});

describe('the end of a process', () => {
  /**
   * Cutting its own connection at the end looked like a reset by the access point, which may then have restarted: the
   * message was held for an operator, while after a SIGKILL at the same moment it would have been redelivered.
   */
  it('shutdownGrace bounds how long it waits for what is in flight; the record says what came of it', async () => {
    const front = await startFront(settings({ times: { shutdownGrace: '300ms', lease: '300ms' } }));
    const id = freshId();
    upstream.next(hang());
    const cut = post(front.url, message(id)).catch(() => 'broken' as const);
    await upstream.arrived(1);
    front.process.signal('SIGTERM');
    expect(await front.process.ended).toMatchObject({ code: 0 });
    expect(await cut).toBe('broken');
    const next = await startFront(settings());
    expect(refersTo((await post(next.url, message(id))).body)).toBe(id);
    expect(upstream.requests.map((request) => request.header('as4-once-copy'))).toEqual(['first', 'redelivery']);
  });

  it('within it, whoever waits gets the answer too', async () => {
    const front = await startFront(settings());
    const id = freshId();
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const first = post(front.url, message(id));
    await upstream.arrived(1);
    const copy = post(front.url, message(id));
    await front.metricIs('as4_once_waiting', 1);
    front.process.signal('SIGTERM');
    await eventually(
      async () =>
        (await fetch(`${front.admin}/readyz`).then(
          ({ status }) => status,
          () => 503,
        )) === 503
          ? true
          : undefined,
      () => 'the end to begin',
    );
    await expect(post(front.url, message(freshId()))).rejects.toThrow();
    working.open();
    expect((await copy).body.equals((await first).body)).toBe(true);
    expect(await front.process.ended).toMatchObject({ code: 0 });
  });
});

const nginxMissing =
  spawnSync('nginx', ['-v'], { stdio: 'ignore', env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` } })
    .error === undefined
    ? undefined
    : 'nginx is not installed';

describe.skipIf(nginxMissing !== undefined)(
  `ops/nginx.conf in a real nginx${nginxMissing === undefined ? '' : ` (skipped: ${nginxMissing})`}`,
  () => {
    let nginx: OwnedProcess | undefined;
    afterEach(() => nginx?.kill());
    afterAll(() => nginx?.kill());

    async function before(frontPort: number): Promise<string> {
      const server = makeIdentity('as4.example.org', { issuer: authority });
      const port = await freePort();
      const snippet = readFileSync(join(ROOT, 'ops', 'nginx.conf'), 'utf8')
        .replace('server 127.0.0.1:8080;', `server 127.0.0.1:${frontPort};`)
        .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
        .replace('/etc/ssl/as4.example.org/fullchain.pem', pem('nginx.pem', server.certificatePem))
        .replace('/etc/ssl/as4.example.org/key.pem', pem('nginx.key', server.keyPem));
      const temp = join(folder.path, 'nginx');
      mkdirSync(temp);
      const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${temp}/${name};`)
        .join('\n');
      const file = pem(
        'nginx.conf',
        `daemon off;\nmaster_process off;\npid ${temp}/pid;\nerror_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n${kept}\n${snippet}\n}\n`,
      );
      nginx = await startProcess('nginx', ['-p', temp, '-c', file], {
        env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
      });
      const url = `https://127.0.0.1:${port}/as4`;
      await eventually(
        async () =>
          await sendTls(url, { body: Buffer.alloc(0), headers: {} }).then(
            () => true,
            () => undefined,
          ),
        () => `nginx to listen: ${nginx?.stderr()}`,
      );
      return url;
    }

    it('a message and its copy, the peer behind it, a long body as it comes, and the answer to one that is too long', async () => {
      const front = await startFront(
        settings({ trustProxy: 1, limits: { maxBody: '4 MiB', memoryPerBody: '64 KiB' } }),
      );
      const url = await before(front.port);
      const seen = upstream.requests.length;
      const id = freshId();
      const first = await sendTls(url, message(id));
      expect([first.status, refersTo(first.body)]).toEqual([200, id]);
      const copy = await sendTls(url, message(id));
      expect([copy.headers['as4-once-answer'], copy.body.equals(first.body)]).toEqual(['replay', true]);
      expect((await front.logged({ event: 'exchange', messageId: id }))['peer']).toBe('127.0.0.1');
      expect(upstream.requests[seen]!.header('x-forwarded-proto')).toBe('https');

      const longId = freshId();
      const long = as4Message({ messageId: longId, payloads: [Buffer.alloc(3_000_000, 'invoice ')] });
      expect(refersTo((await sendTls(url, long)).body)).toBe(longId);
      expect(upstream.requests.at(-1)!.body.equals(long.body)).toBe(true);
      const tooLong = await sendTls(url, as4Message({ payloads: [Buffer.alloc(6_000_000, 'invoice ')] }));
      expect([tooLong.status, tooLong.body.toString()]).toEqual([413, expect.stringContaining('BODY_TOO_LARGE')]);
      expect(upstream.requests).toHaveLength(seen + 2);
    });

    it("sends nothing a second time by itself: one that is cut off is one attempt, and the sender's retry is recognised", async () => {
      const front = await startFront(settings());
      const url = await before(front.port);
      const seen = upstream.requests.length;
      const id = freshId();
      upstream.next(hang());
      const cut = sendTls(url, message(id));
      await upstream.arrived(seen + 1);
      await front.kill();
      expect((await cut).status).toBe(502);
      expect(upstream.requests).toHaveLength(seen + 1);
      expect((await sendTls(url, message(id))).status).toBe(502);
    });
  },
);
