import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/clock.js';
import { loadConfig } from '../src/config/load.js';
import { Events } from '../src/events.js';
import { lmdbLedger } from '../src/ledger/embedded/index.js';
import { thisProcess } from '../src/ledger/owner.js';
import { watchFolder } from '../src/watch/watch.js';
import { start } from './support/child.js';
import { cpuMs } from './support/load.js';

/**
 * A partner that repeats itself: every message of 200 comes 70 times, into a watched folder and into an HTTP door, each
 * with the embedded ledger. Checks that 200 were delivered and that all answers to one message
 * are equal; prints time and CPU for each duplicate.
 *
 *   node dist/bench/storm.js [--messages 200] [--copies 70] [--connections 16]
 */
const { values } = parseArgs({
  options: { messages: { type: 'string', default: '200' }, copies: { type: 'string', default: '70' }, connections: { type: 'string', default: '16' } },
});
const messages = Number(values.messages);
const copies = Number(values.copies);
const total = messages * copies;

const edifact = (n: number): string =>
  `UNB+UNOC:3+4012345000009:14+4012345000016:14+240229:1305+REF${n}++ORDERS'UNH+1+ORDERS:D:96A:UN'${"LIN+1++4000862141404:EN'QTY+21:48:PCE'".repeat(60)}UNT+122+1'UNZ+1+REF${n}'`;

function check(what: string, found: number, expected: number): void {
  if (found === expected) return;
  process.stderr.write(`${what}: ${found} instead of ${expected}\n`);
  process.exitCode = 1;
}

async function folders(root: string): Promise<void> {
  for (const name of ['in', 'out']) mkdirSync(join(root, name));
  for (let copy = 0; copy < copies; copy += 1) {
    for (let n = 0; n < messages; n += 1) {
      const file = join(root, 'in', `${String(copy).padStart(3, '0')}-${n}.edi`);
      writeFileSync(file, edifact(n));
      utimesSync(file, 1_700_000_000 + copy, 1_700_000_000 + copy);
    }
  }
  const text = 'role: front\nledger: { embedded: ./data }\nwatch:\n  - { protocol: edifact, in: ./in, out: ./out, stable: 1ms }\n';
  const { limits, times, watch: [config] } = loadConfig({ text }, { base: root });
  if (config === undefined) throw new Error('no watch');
  const events = new Events();
  const latencies: number[] = [];
  events.on('exchange', ({ answer, ms }) => {
    if (answer === 'replay') latencies.push(ms);
  });
  const ledger = await lmdbLedger({ path: join(root, 'data') });
  const watched = await watchFolder({ config, ledger, events, clock: systemClock, owner: thisProcess('bench'), limits, times });
  const cpu = process.cpuUsage();
  const began = performance.now();
  await watched.pass(true);
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await watched.leave();
  await ledger.close();
  check('files delivered', readdirSync(join(root, 'out')).length, messages);
  check('files put aside', readdirSync(join(root, 'duplicates')).length, total - messages);
  const p = (q: number): string => (latencies.sort((a, b) => a - b)[Math.floor(latencies.length * q)] ?? 0).toFixed(1);
  console.log(`folder: ${total} files, ${messages} delivered, ${seconds.toFixed(1)} s; each ${((seconds * 1_000) / total).toFixed(2)} ms and ${((user + system) / total).toFixed(0)} µs CPU; duplicates p50 ${p(0.5)} ms, p99 ${p(0.99)} ms`);
}

/** A backend that takes every message at once and counts. */
async function backend(): Promise<{ url: string; taken(): number; close(): void }> {
  let taken = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      taken += 1;
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end(`taken as ${taken}`);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, taken: () => taken, close: () => server.close() };
}

async function door(root: string): Promise<void> {
  const behind = await backend();
  const config = join(root, 'door.yaml');
  writeFileSync(config, `role: front\nlisten: 127.0.0.1:0\nledger: { embedded: ./door }\nroutes:\n  - { path: /as4, protocol: edifact, upstream: ${behind.url} }\nlog: { file: ${join(root, 'door.log')} }\n`);
  const server = await start('src/cli/main.js', ['serve', '--config', config], /listens on http:\/\/127\.0\.0\.1:(\d+)/);
  const { hostname, port, pathname } = new URL(server.url);
  const agent = new Agent({ keepAlive: true, maxSockets: Number(values.connections) });
  const answers = new Map<number, Set<string>>();
  const send = (n: number): Promise<void> => new Promise((resolve, reject) => {
    const body = Buffer.from(edifact(n));
    const request = httpRequest({ hostname, port, path: pathname, method: 'POST', agent, headers: { 'Content-Type': 'application/edifact', 'Content-Length': body.length } }, (response) => {
      const hash = createHash('sha256').update(`${response.statusCode} ${response.headers['content-type']}\n`);
      response.on('data', (chunk: Buffer) => hash.update(chunk));
      response.on('end', () => {
        answers.set(n, (answers.get(n) ?? new Set()).add(hash.digest('hex')));
        resolve();
      });
    });
    request.on('error', reject);
    request.end(body);
  });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < total; i = next++) await send(i % messages);
  };
  const cpu = cpuMs(server.pid);
  const began = performance.now();
  await Promise.all(Array.from({ length: Number(values.connections) }, worker));
  const seconds = (performance.now() - began) / 1_000;
  check('messages delivered', behind.taken(), messages);
  check('different answers', [...answers.values()].reduce((sum, seen) => sum + seen.size, 0), messages);
  console.log(`HTTP door: ${total} requests, ${behind.taken()} delivered, ${seconds.toFixed(1)} s, ${((seconds * 1_000) / total).toFixed(2)} ms and ${(((cpuMs(server.pid) - cpu) * 1_000) / total).toFixed(0)} µs CPU each`);
  agent.destroy();
  await server.stop();
  behind.close();
}

const root = mkdtempSync(join(tmpdir(), 'as4-once-storm-'));
try {
  await folders(root);
  await door(root);
} finally {
  rmSync(root, { recursive: true, force: true });
}
