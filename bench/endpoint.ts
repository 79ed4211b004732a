import { constants, createPrivateKey, generateKeyPairSync, privateDecrypt, publicEncrypt, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { as4Message, type TestMessage } from '../test/support/messages.js';
import { BOMBS } from '../test/endpoint/bombs.js';
import { receiver, sender } from '../test/endpoint/identities.js';
import { start, type Server } from './support/child.js';
import { cpuMs, peakRssMiB, run } from './support/load.js';

/**
 * The endpoint against the machine's own RSA ceiling, measured in the same run: how many messages a CPU second could take
 * if a message cost nothing but the RSA operations that it cannot do without (one verification, one signature, and for an
 * encrypted one a decryption). Prints the share of it that is reached, what a duplicate costs of a first message (the
 * sender's bytes again, as a retry brings them, and the message signed anew, as a resend does), the memory that one
 * large encrypted payload takes, and what it costs to refuse each of the bombs of test/endpoint/bombs.ts. `floor` is what a
 * first message costs with nothing beside what it cannot do without (support/endpoint-floor.ts).
 *
 * The targets are the handler's: `createEndpoint` in an application, so that what the process does is the endpoint's own
 * work and the ledger's. With backend directory each message is three files and four fsyncs more.
 *
 *   node dist/bench/endpoint.js [--rounds 7] [--count 400] [--warm 4000] [--connections 8] [--large 100]
 */
const { values } = parseArgs({
  options: { count: { type: 'string', default: '400' }, connections: { type: 'string', default: '8' }, large: { type: 'string', default: '100' }, warm: { type: 'string', default: '4000' }, rounds: { type: 'string', default: '7' } },
});
const count = Number(values.count);
const connections = Number(values.connections);
/** Messages of each kind before anything is measured: a server runs for weeks, its compiler needs some thousands. */
const warmUp = Number(values.warm);
const PAYLOAD = Buffer.from(`<Invoice>${'<Line>invoice line</Line>'.repeat(390)}</Invoice>`);

const folder = mkdtempSync(join(tmpdir(), 'as4-once-bench-'));
writeFileSync(join(folder, 'own.crt'), receiver.certificate.toString());
writeFileSync(join(folder, 'own.key'), receiver.keyPem);
writeFileSync(join(folder, 'trust.pem'), sender.certificate.toString());
const yaml = (name: string, more = ''): string => {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, `
role: endpoint
listen: 127.0.0.1:0
endpoint:
  profile: custom
  keys: { certificate: own.crt, key: own.key }
  backend: { directory: ${name}/deliveries }
${more}security: { trust: trust.pem, encryption: optional, commonName: true }
limits: { parts: 200 }
ledger: { embedded: ${name}/ledger }
log: { file: ${name}.log }
defaults: { resend: 'off' }
`);
  return file;
};
const LISTENS = /listens on http:\/\/127\.0\.0\.1:(\d+)/;

/** CPU µs of one call, in this process. */
function costOf(operation: () => void, times = 400): number {
  for (let i = 0; i < 20; i++) operation();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) operation();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

function rsaCosts(): { readonly verify: number; readonly sign: number; readonly decrypt: number } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const bytes = randomBytes(600);
  const signature = sign('sha256', bytes, key);
  const wrapped = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, randomBytes(16));
  return {
    verify: costOf(() => verify('sha256', bytes, publicKey, signature)),
    sign: costOf(() => sign('sha256', bytes, key)),
    decrypt: costOf(() => privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, wrapped)),
  };
}

async function cpuPerMessage(server: Server, messages: readonly TestMessage[]): Promise<number> {
  const before = cpuMs(server.pid);
  const { failed } = await run({
    url: server.url, connections, count: messages.length, contentType: messages[0]?.contentType ?? '',
    body: (n) => messages[n]?.body ?? Buffer.alloc(0),
  });
  if (failed > 0) throw new Error(`${failed} of ${messages.length} were refused`);
  return ((cpuMs(server.pid) - before) * 1_000) / messages.length;
}

const ids = (n: number): string[] => Array.from({ length: n }, () => `${randomUUID()}@as4-once-bench`);
const build = (encrypted: boolean, of: readonly string[]): TestMessage[] => of.map((messageId) =>
  as4Message({ messageId, signer: sender, payloads: [PAYLOAD], compress: true, plan: { mime: { boundary: 'as4-once-bench', rootContentId: 'root@as4-once-bench' } }, ...(encrypted ? { receiver: receiver.certificate } : {}) }));

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const NEWER = Number(process.versions.node.split('.', 1)[0]) >= 24;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** One round: first messages here and at the floor, the same again, the same signed anew; what RSA costs is measured before and behind them. */
async function round(server: Server, floor: Server | undefined, encrypted: boolean): Promise<Record<'rsa' | 'first' | 'floor' | 'again' | 'anew', number>> {
  const of = ids(count);
  const messages = build(encrypted, of);
  const ceiling = (): number => {
    const { verify: verified, sign: signed, decrypt } = rsaCosts();
    return verified + signed + (encrypted ? decrypt : 0);
  };
  const before = ceiling();
  const first = await cpuPerMessage(server, messages);
  const rsa = (before + ceiling()) / 2;
  const least = floor === undefined ? Number.NaN : await cpuPerMessage(floor, messages);
  const again = await cpuPerMessage(server, messages);
  const anew = await cpuPerMessage(server, build(encrypted, of));
  return { rsa, first, floor: least, again, anew };
}

/**
 * Rounds, once the compiler has seen enough: what is measured is a process that runs. Shares are medians, each of one
 * round. With a floor the targets are printed too.
 */
async function measure(server: Server, floor?: Server): Promise<void> {
  for (let sent = 0; sent < warmUp; sent += 500) {
    for (const encrypted of [true, false]) {
      const warm = build(encrypted, ids(500));
      await cpuPerMessage(server, warm);
      if (floor !== undefined) await cpuPerMessage(floor, warm);
      await cpuPerMessage(server, warm.slice(0, 200));
    }
  }
  for (const [name, encrypted, target] of [['signed', false, NEWER ? 28 : 18], ['signed and encrypted', true, NEWER ? 33 : 25]] as const) {
    const rounds: Awaited<ReturnType<typeof round>>[] = [];
    for (let i = 0; i < Number(values.rounds); i++) rounds.push(await round(server, floor, encrypted));
    const [first, again, anew] = (['first', 'again', 'anew'] as const).map((what) => median(rounds.map((r) => r[what])).toFixed(0));
    process.stdout.write(`  ${name.padEnd(21)} first ${first} µs of CPU, ${percent(median(rounds.map((r) => r.rsa / r.first)))} of the RSA ceiling`
      + `${floor !== undefined ? ` (target ${target} %; the floor ${percent(median(rounds.map((r) => r.rsa / r.floor)))})` : ''}; duplicate ${again} µs, ${percent(median(rounds.map((r) => r.again / r.first)))} of a first`
      + `${floor !== undefined ? ' (target 33.3 %)' : ''}; signed anew ${anew} µs, ${percent(median(rounds.map((r) => r.anew / r.first)))}\n`);
  }
}

/** Each bomb four times at once, in one process: CPU of one, and what all of them together have taken of memory. */
async function refuseBombs(server: Server): Promise<void> {
  await cpuPerMessage(server, build(false, ids(300)));
  const before = peakRssMiB(server.pid);
  for (const { name, told: [, code], build: bomb } of BOMBS) {
    const messages = [0, 1, 2, 3].map((n) => bomb(`${n}@as4-once-bench`));
    const cpu = cpuMs(server.pid);
    await run({ url: server.url, connections: 4, count: 4, contentType: messages[0]?.contentType ?? '', body: (n) => messages[n]?.body ?? Buffer.alloc(0) })
      .catch(() => undefined); // hung up on
    process.stdout.write(`  ${name.padEnd(50)} ${code}, ${((cpuMs(server.pid) - cpu) / 4).toFixed(0)} ms of CPU\n`);
  }
  process.stdout.write(`  peak RSS ${(peakRssMiB(server.pid) - before).toFixed(0)} MiB above that of honest messages\n`);
}

const servers: Server[] = [];
try {
  process.stdout.write(`Node ${process.version}, RSA-2048, ${count} messages of ${PAYLOAD.length} bytes, embedded ledger\n`);
  const rsa = rsaCosts();
  process.stdout.write(`RSA alone, CPU µs: verify ${rsa.verify.toFixed(0)}, sign ${rsa.sign.toFixed(0)}, decrypt ${rsa.decrypt.toFixed(0)}\n`);
  const handler = await start('bench/support/endpoint-server.js', [folder], LISTENS);
  const floor = await start('bench/support/endpoint-floor.js', [folder], LISTENS);
  servers.push(handler, floor);
  process.stdout.write('createEndpoint with a handler that takes everything\n');
  await measure(handler, floor);
  const directory = await start('src/cli/main.js', ['serve', '--config', yaml('directory')], LISTENS);
  servers.push(directory);
  process.stdout.write('as4-once serve with backend directory, each delivery fsynced\n');
  await measure(directory);

  const large = as4Message({ signer: sender, receiver: receiver.certificate, payloads: [randomBytes(Number(values.large) * 1_000_000)], compress: true });
  const fresh = await start('src/cli/main.js', ['serve', '--config', yaml('large')], LISTENS);
  servers.push(fresh);
  const { failed, p50 } = await run({ url: fresh.url, connections: 1, count: 1, contentType: large.contentType, body: () => large.body });
  if (failed > 0) throw new Error('the large message was refused');
  process.stdout.write(`${values.large} MB encrypted: ${(p50 / 1_000).toFixed(1)} s, peak RSS ${peakRssMiB(fresh.pid).toFixed(0)} MiB\n`);

  const bombed = await start('src/cli/main.js', ['serve', '--config', yaml('bombed', '  maxPayload: 4MB\n')], LISTENS);
  servers.push(bombed);
  process.stdout.write('hostile messages, refused\n');
  await refuseBombs(bombed);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
