import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { as4Message, type TestMessage } from '../test/support/messages.js';
import { startRedis } from '../test/support/redis-server.js';
import { receiver, sender } from '../test/endpoint/identities.js';
import { start, type Server } from './support/child.js';
import { cpuMs, peakRssMiB, run, type Measured } from './support/load.js';

/**
 * The front against what a program without a ledger would have to do anyway, in one run, all servers processes of their
 * own, turn about:
 *   replay   against Express + the same reading + the same bytes sent
 *   first    against a plain store-and-forward Express + undici proxy before the same upstream, twice: before an access
 *            point that verifies, decrypts and signs (this project's endpoint, a process of its own), as in production;
 *            and before an upstream that answers at once, so that nothing but the front itself is measured. `floor` is
 *            that proxy without Express and with nothing beside what a first delivery cannot do without (support/servers.ts)
 * Prints throughput as ratios (1 = as fast as the baseline), CPU per message of the server process, and latency.
 *
 *   node dist/bench/front.js [--rounds 9] [--count 1500] [--signed 400] [--warm 8000] [--connections 16]
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' }, count: { type: 'string', default: '1500' }, signed: { type: 'string', default: '400' },
    warm: { type: 'string', default: '8000' }, connections: { type: 'string', default: '16' },
  },
});
const rounds = Number(values.rounds);
const count = Number(values.count);
/** Messages of a round before the access point, each signed and encrypted beforehand. */
const signed = Number(values.signed);
/** Messages of each kind before anything is measured: a server runs for weeks, its compiler needs some ten thousand messages. */
const warm = Number(values.warm);
const connections = Number(values.connections);

const payloads = [Buffer.alloc(5_500, 'invoice ')];
const message = as4Message({ signer: sender, payloads, messageId: '000000000000@bench.as4-once.test' });
const at = message.body.indexOf('000000000000@bench');

/** The same message under another id; the front checks no signature, so the body need not be signed anew. */
function withId(n: number): Buffer {
  const body = Buffer.from(message.body);
  body.write(String(n).padStart(12, '0'), at, 'latin1');
  return body;
}

/** Messages that an access point takes: each signed and encrypted for it. */
const genuine = (of: number): TestMessage[] => Array.from({ length: of }, () => as4Message({
  messageId: `${randomUUID()}@bench.as4-once.test`, signer: sender, receiver: receiver.certificate, payloads,
  plan: { mime: { boundary: 'as4-once-bench', rootContentId: 'root@as4-once-bench' } },
}));

interface Sample extends Measured {
  readonly cpuUs: number;
}

async function measure(server: Server, body: (n: number) => Buffer, total: number, contentType = message.contentType): Promise<Sample> {
  const before = cpuMs(server.pid);
  const measured = await run({ url: server.url, connections, count: total, contentType, body });
  return { ...measured, cpuUs: ((cpuMs(server.pid) - before) * 1000) / total };
}

const folder = mkdtempSync(join(tmpdir(), 'as4-once-bench-'));
const redis = await startRedis();
const LISTENS = /listens on http:\/\/127\.0\.0\.1:(\d+)/;
const upstream = await start('bench/support/servers.js', ['upstream'], /"port":(\d+)/);
const point = join(folder, 'access-point');
mkdirSync(point);
writeFileSync(join(point, 'own.crt'), receiver.certificate.toString());
writeFileSync(join(point, 'own.key'), receiver.keyPem);
writeFileSync(join(point, 'trust.pem'), sender.certificate.toString());
const accessPoint = await start('bench/support/endpoint-server.js', [point], LISTENS);
const config = (name: string, ledger: string, behind: Server = upstream): string => {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, `role: front\nlisten: 127.0.0.1:0\nupstream: ${behind.url}\naccessPoint: other\nledger: ${ledger}\ndefaults: { window: 90d, resend: 'off' }\nlog: { file: ${join(folder, `${name}.log`)} }\n`);
  return file;
};
const servers = {
  replay: await start('bench/support/servers.js', ['replay'], /"port":(\d+)/),
  proxy: await start('bench/support/servers.js', ['proxy', '--upstream', upstream.url], /"port":(\d+)/),
  floor: await start('bench/support/servers.js', ['floor', '--upstream', upstream.url, '--folder', join(folder, 'floor')], /"port":(\d+)/),
  embedded: await start('src/cli/main.js', ['serve', '--config', config('embedded', `{ embedded: ${join(folder, 'ledger')} }`)], LISTENS),
  redis: await start('src/cli/main.js', ['serve', '--config', config('redis', `{ redis: "${redis.url}" }`)], LISTENS),
};

const atPoint = {
  baseline: await start('bench/support/servers.js', ['proxy', '--upstream', accessPoint.url], /"port":(\d+)/),
  embedded: await start('src/cli/main.js', ['serve', '--config', config('embedded-ap', `{ embedded: ${join(folder, 'ledger-ap')} }`, accessPoint)], LISTENS),
  redis: await start('src/cli/main.js', ['serve', '--config', config('redis-ap', `{ redis: { url: "${redis.url}", prefix: ap } }`, accessPoint)], LISTENS),
};

try {
  let id = 1;
  const same = (): Buffer => message.body;
  const fresh = (): Buffer => withId(id++);
  for (const server of Object.values(servers)) {
    if (server !== servers.floor && server !== servers.proxy) await measure(server, same, warm);
    if (server !== servers.replay) await measure(server, fresh, warm);
  }
  const replay: Record<string, Sample[]> = { baseline: [], embedded: [], redis: [] };
  const first: Record<string, Sample[]> = { baseline: [], floor: [], embedded: [], redis: [] };
  for (let round = 0; round < rounds; round += 1) {
    replay['baseline']?.push(await measure(servers.replay, same, count));
    replay['embedded']?.push(await measure(servers.embedded, same, count));
    replay['redis']?.push(await measure(servers.redis, same, count));
    first['baseline']?.push(await measure(servers.proxy, fresh, count));
    first['floor']?.push(await measure(servers.floor, fresh, count));
    first['embedded']?.push(await measure(servers.embedded, fresh, count));
    first['redis']?.push(await measure(servers.redis, fresh, count));
  }
  const production: Record<keyof typeof atPoint, Sample[]> = { baseline: [], embedded: [], redis: [] };
  // the servers before the access point are new, and so is the access point; each message of theirs takes a signature to make
  for (let round = -Math.ceil(warm / 2 / signed); round < rounds; round += 1) {
    for (const [name, server] of Object.entries(atPoint) as [keyof typeof atPoint, Server][]) {
      const messages = genuine(signed);
      const sample = await measure(server, (n) => messages[n]?.body ?? Buffer.alloc(0), signed, messages[0]?.contentType);
      if (round >= 0) production[name].push(sample);
    }
  }
  process.stdout.write(`Node ${process.version}, ${connections} connections, ${rounds} rounds of ${count}, request ${message.body.length} bytes\n`);
  print('replay of a duplicate, against Express + same reading', replay);
  print('first delivery, before an access point that verifies, decrypts and signs, against an Express + undici store-and-forward proxy', production);
  print('first delivery, before an upstream that answers at once, against the same proxy', first);
  process.stdout.write(`peak RSS MiB: embedded ${peakRssMiB(servers.embedded.pid).toFixed(0)}, redis ${peakRssMiB(servers.redis.pid).toFixed(0)}\n`);
} finally {
  await Promise.all([...Object.values(servers), ...Object.values(atPoint)].map((server) => server.stop()));
  await Promise.all([upstream, accessPoint].map((server) => server.stop()));
  await redis.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Medians over the rounds; the ratio is taken round by round, so that a machine that slows down slows both. */
function print(title: string, samples: Record<string, Sample[]>): void {
  process.stdout.write(`\n${title}\n              ratio   msg/s   CPU us/msg (x baseline)   p50 ms   p99 ms   added p50 / p99 ms   failed\n`);
  const baseline = samples['baseline'] ?? [];
  for (const [name, list] of Object.entries(samples)) {
    const of = (pick: (sample: Sample, i: number) => number): number => median(list.map(pick));
    const ratio = of((sample, i) => sample.perSecond / (baseline[i]?.perSecond ?? 1));
    const cpu = of((sample, i) => sample.cpuUs / (baseline[i]?.cpuUs ?? 1));
    const added = (q: 'p50' | 'p99'): string => of((sample, i) => sample[q] - (baseline[i]?.[q] ?? 0)).toFixed(2);
    process.stdout.write(
      `  ${name.padEnd(10)} ${ratio.toFixed(2).padStart(6)} ${of((s) => s.perSecond).toFixed(0).padStart(7)} ${of((s) => s.cpuUs).toFixed(0).padStart(8)} (${cpu.toFixed(2)}) `
      + `${of((s) => s.p50).toFixed(2).padStart(15)} ${of((s) => s.p99).toFixed(2).padStart(8)}   ${added('p50')} / ${added('p99')}   ${list.reduce((sum, s) => sum + s.failed, 0)}\n`);
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
