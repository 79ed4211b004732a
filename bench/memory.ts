import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeIdentity } from '../conformance/keys.js';
import { as4Message } from '../test/support/messages.js';
import { start, type Server } from './support/child.js';
import { peakRssMiB, run, type Measured } from './support/load.js';

/**
 * What the front takes of memory at its worst, on the embedded ledger:
 *   large   50 concurrent messages of 100 MB: peak RSS of the front, bytes compared at the upstream by SHA-256
 *   slow    5,000 copies of one id that its access point is slow with: as many as limits.waitersPerKey allows wait for the
 *           Receipt, the others have 503 at once. Peak RSS, and the p99 of other ids against their usual
 *
 *   node dist/bench/memory.js [--messages 50] [--megabytes 100] [--copies 5000] [--waiters 128] [--load 1000] [--over 10000]
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '50' },
    megabytes: { type: 'string', default: '100' },
    copies: { type: 'string', default: '5000' },
    waiters: { type: 'string', default: '128' },
    load: { type: 'string', default: '1000' },
    over: { type: 'string', default: '10000' },
  },
});
const BOUND = 300;
const LISTENS = /listens on http:\/\/127\.0\.0\.1:(\d+)/;
const ID = '000000000000@bench.as4-once.test';
const MARK = 'PAYLOAD'.repeat(8);

const folder = mkdtempSync(join(tmpdir(), 'as4-once-memory-'));
const upstream = await start('bench/support/memory-peers.js', ['upstream'], /"port":(\d+)/);
const upstreamAt = upstream.url.replace('/as4', '');
let failed = false;

function front(name: string, more: string): Promise<Server> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(
    file,
    `role: front\nlisten: 127.0.0.1:0\nupstream: ${upstream.url}\naccessPoint: other\nledger: { embedded: ${join(folder, name)} }\ndefaults: { window: 90d }\nlog: { file: ${join(folder, `${name}.log`)} }\n${more}`,
  );
  return start('src/cli/main.js', ['serve', '--config', file], LISTENS);
}

const template = as4Message({ signer: makeIdentity('POP000001'), messageId: ID, payloads: [MARK] });
const cut = template.body.indexOf(MARK);

/** The same message with another id, before the mark. */
function withId(id: string): Buffer {
  const body = Buffer.from(template.body);
  body.write(id.padEnd(12, '0').slice(0, 12), body.indexOf(ID), 'latin1');
  return body;
}

try {
  await large();
  await slow();
} finally {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

function judge(what: string, good: boolean): void {
  failed ||= !good;
  process.stdout.write(`  ${good ? 'ok  ' : 'FAIL'}  ${what}\n`);
}

async function large(): Promise<void> {
  const server = await front('large', '');
  const count = Number(values.messages);
  const idle = peakRssMiB(server.pid);
  const began = performance.now();
  const sent = await Promise.all(
    Array.from({ length: count }, (_, n) => sendLarge(server.url, `large${n}`, Number(values.megabytes))),
  );
  const seconds = (performance.now() - began) / 1000;
  const seen = (await (await fetch(`${upstreamAt}/seen`)).json()) as Record<string, string[]>;
  const same = sent.filter(
    ({ id, status, sha256 }) => status === 200 && seen[id]?.length === 1 && seen[id][0] === sha256,
  ).length;
  const peak = peakRssMiB(server.pid);
  process.stdout.write(
    `large: ${count} messages of ${values.megabytes} MB at once, ${seconds.toFixed(1)} s, ${((count * Number(values.megabytes)) / seconds).toFixed(0)} MB/s\n`,
  );
  judge(`peak RSS of the front ${peak.toFixed(0)} MiB (idle ${idle.toFixed(0)}), under ${BOUND}`, peak < BOUND);
  judge(`${same} of ${count} arrived once and byte for byte`, same === count);
  await server.stop();
}

/** Head and end of the message around so many megabytes that nobody ever holds at once. */
function sendLarge(
  url: string,
  name: string,
  megabytes: number,
): Promise<{ id: string; status: number; sha256: string }> {
  const body = withId(name);
  const [head, tail] = [body.subarray(0, cut), body.subarray(cut + MARK.length)];
  const id = `${name.padEnd(12, '0').slice(0, 12)}${ID.slice(12)}`;
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(50_000);
  for (let at = 0; at < chunk.length; at += 4) chunk.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  const chunks = (megabytes * 1_000_000) / chunk.length;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      {
        method: 'POST',
        headers: {
          'Content-Type': template.contentType,
          'Content-Length': head.length + chunks * chunk.length + tail.length,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve({ id, status: response.statusCode ?? 0, sha256: hash.digest('hex') }));
      },
    );
    outgoing.on('error', reject);
    const write = async (bytes: Buffer): Promise<void> => {
      hash.update(bytes);
      if (!outgoing.write(bytes)) await once(outgoing, 'drain');
    };
    void (async () => {
      await write(head);
      for (let n = 0; n < chunks; n += 1) {
        const own = Buffer.from(chunk);
        own.writeUInt32LE(n, 0);
        await write(own);
      }
      await write(tail);
      outgoing.end();
    })().catch(reject);
  });
}

async function slow(): Promise<void> {
  const copies = Number(values.copies);
  const waiters = Number(values.waiters);
  const server = await front(
    'slow',
    `limits: { waitersPerKey: ${waiters}, waiters: ${Math.max(1_000, waiters)} }\ntimes: { wait: 100s, answerBy: 110s }\n`,
  );
  let next = 0;
  const others = (count: number): Promise<Measured> =>
    run({
      url: server.url,
      connections: 4,
      count,
      contentType: template.contentType,
      body: () => withId(String(next++)),
    });
  const load = Number(values.load);
  await others(load);
  const usual = [await others(load), await others(load)];
  const before = peakRssMiB(server.pid);
  const first = sendSmall(server.url, withId('slow'));
  const sender = await copiesOf(server.url, copies, withId('slow'));
  const meanwhile: Measured[] = [];
  do meanwhile.push(await others(load));
  while (!sender.refused());
  // whoever may wait waits now
  await fetch(`${upstreamAt}/open`);
  const answers = await sender.answers;
  await first;
  const peak = peakRssMiB(server.pid);
  const p99 = (list: readonly Measured[]): number =>
    list.map((one) => one.p99).sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
  process.stdout.write(
    `slow: ${copies} copies of one slow id, arriving within ${Number(values.over) / 1000} s: ${JSON.stringify(answers)}\n`,
  );
  judge(
    `peak RSS of the front ${peak.toFixed(0)} MiB (${before.toFixed(0)} under the usual load), under ${BOUND}`,
    peak < BOUND,
  );
  const receipts = Object.entries(answers).filter(([answer]) => answer.startsWith('200'));
  const expected = Math.min(copies, waiters);
  judge(
    `${expected} of them waited and had the one Receipt, ${copies - expected} had 503 at once`,
    receipts.length === 1 && receipts[0]?.[1] === expected && (answers['503'] ?? 0) === copies - expected,
  );
  judge(
    `p99 of other ids ${p99(meanwhile).toFixed(1)} ms, usually ${p99(usual).toFixed(1)} ms: ${(p99(meanwhile) / p99(usual)).toFixed(2)} times`,
    p99(meanwhile) < 2 * p99(usual),
  );
  judge(
    `none of the others failed`,
    [...usual, ...meanwhile].every((one) => one.failed === 0),
  );
  await server.stop();
}

function sendSmall(url: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      { method: 'POST', headers: { 'Content-Type': template.contentType, 'Content-Length': body.length } },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Another process sends the copies, so that what is measured here is not what sends them. */
async function copiesOf(
  url: string,
  count: number,
  body: Buffer,
): Promise<{ refused(): boolean; answers: Promise<Record<string, number>> }> {
  const script = fileURLToPath(new URL('./support/memory-peers.js', import.meta.url));
  const child: ChildProcess = spawn(
    process.execPath,
    [script, 'copies', '--url', url, '--count', String(count), '--over', values.over, '--waiters', values.waiters],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stdin?.write(`${JSON.stringify({ contentType: template.contentType, body: body.toString('base64') })}\n`);
  const answers = once(child, 'exit').then(
    () => JSON.parse(/^answers (.*)$/m.exec(text)?.[1] ?? '{}') as Record<string, number>,
  );
  child.stdin?.end();
  return { refused: () => /^refused$/m.test(text), answers };
}
