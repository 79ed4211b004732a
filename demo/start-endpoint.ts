/**
 * `npm run start:endpoint`: as4-once as the access point itself, with the embedded ledger, test keys of its own and
 * deliveries in a folder. Prints the one command that sends a sample message twice, and what it will show. Ctrl-C stops it.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { portNear } from './ports.js';
import { testKeys } from '../src/operate/test-keys.js';

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROOT = join(BUILT, '..');

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(ROOT, 'demo-endpoint') },
    port: { type: 'string', default: '8080' },
    'admin-port': { type: 'string', default: '9464' },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const HELP = `npm run start:endpoint -- [options]
  --port N        the endpoint listens here (8080; another free one if taken)
  --admin-port N  health and metrics (9464)
  --data DIR      keys, ledger, deliveries, log (demo-endpoint)
  --fresh         forget what earlier runs left in DIR
`;

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const { data } = values;
  if (values.fresh) rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const own = testKeys(join(data, 'keys'), 'as4-once-receiver');
  const partner = testKeys(join(data, 'keys'), 'as4-once-sender');
  const port = await portNear(Number(values.port));
  const adminPort = await portNear(Number(values['admin-port']));
  const config = join(data, 'endpoint.yaml');
  writeFileSync(config, [
    '# Written by npm run start:endpoint. The keys are for trying out only.',
    'role: endpoint',
    `listen: 127.0.0.1:${port}`,
    'endpoint:',
    '  profile: custom',
    '  partyId: as4-once-receiver',
    '  keys: { certificate: keys/as4-once-receiver.crt, key: keys/as4-once-receiver.key }',
    '  backend: { directory: deliveries }',
    'security: { trust: keys/as4-once-sender.crt, commonName: true }',
    'ledger: { embedded: ./ledger }',
    `admin: { listen: 127.0.0.1:${adminPort} }`,
    'log: { file: ./endpoint.log }',
    'defaults: { window: 90d, sbdh: suppress }',
    '',
  ].join('\n'));

  const child = spawn(process.execPath, [join(BUILT, 'src/cli/main.js'), 'serve', '--config', config], { stdio: ['ignore', 'ignore', 'pipe'], cwd: ROOT });
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping = true;
      child.kill('SIGTERM');
    });
  }
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    const before = said;
    said += text;
    if (!/admin on /.test(before) && /admin on /.test(said)) explain({ port, adminPort, data, own, partner });
  });
  child.once('exit', (code, signal) => {
    if (!stopping) process.stderr.write(`as4-once ended by itself (${signal ?? `exit code ${code}`}).\n`);
    process.exitCode = stopping ? 0 : 1;
  });
}

interface Running {
  readonly port: number;
  readonly adminPort: number;
  readonly data: string;
  readonly own: { readonly certificate: string };
  readonly partner: { readonly certificate: string; readonly key: string };
}

function explain({ port, adminPort, data, own, partner }: Running): void {
  const here = (path: string): string => relative(process.cwd(), path);
  const send = [
    'node', here(join(BUILT, 'conformance/main.js')), 'send', '--url', `http://127.0.0.1:${port}/as4`,
    '--file', here(join(ROOT, 'demo/invoice.xml')), '--key', here(partner.key), '--cert', here(partner.certificate),
    '--encrypt', here(own.certificate), '--receiver', here(own.certificate), '--times', '2',
  ].join(' ');
  process.stdout.write(`
  sender  ─────▶  as4-once (endpoint)  ─────▶  ${here(join(data, 'deliveries'))}/
                  127.0.0.1:${port}
                  verifies, decrypts, delivers once, signs the Receipt

Send one message twice, signed and encrypted, from another terminal:

  ${send}

It shows two Receipts with the same sha256, the second one "identical to the first answer", and

  ls ${here(join(data, 'deliveries'))}

has one new folder, not two: the payload and message.json. What as4-once did: ${here(join(data, 'endpoint.log'))}; its metrics: http://127.0.0.1:${adminPort}/metrics

Ctrl-C stops it.
`);
}

await main();
