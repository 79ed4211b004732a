/**
 * `npm start`: as4-once as a front, with the embedded ledger, before an access point that signs real Receipts with a key
 * of its own: as4-once again, in the role endpoint; two processes of their own. Prints the one command that sends a sample message twice, and what it will show. Ctrl-C stops both.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { portNear } from './ports.js';
import { testKeys, type KeyFiles } from '../src/operate/test-keys.js';

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROOT = join(BUILT, '..');

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(ROOT, 'demo-data') },
    port: { type: 'string', default: '8080' },
    'access-point-port': { type: 'string', default: '8081' },
    'admin-port': { type: 'string', default: '9464' },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const HELP = `npm start -- [options]
  --port N               the front listens here (8080; another free one if taken)
  --access-point-port N  the access point listens here (8081)
  --admin-port N         dashboard, health and metrics of the front (9464)
  --data DIR             keys, ledgers, deliveries, logs (demo-data)
  --fresh                forget what earlier runs left in DIR
`;

/** For the dashboard of the demo, which listens to this machine only. */
const TOKEN = 'demo';

interface Started {
  readonly name: string;
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
}

const running: Started[] = [];
let stopping: Promise<void> | undefined;

function start(name: string, script: string, args: readonly string[]): Started {
  const child = spawn(process.execPath, [join(BUILT, script), ...args], { stdio: ['ignore', 'pipe', 'inherit'], cwd: ROOT });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve();
      if (stopping !== undefined) return;
      process.stderr.write(`${name} ended by itself (${signal ?? `exit code ${code}`}).\n`);
      void stop(1);
    });
  });
  const started = { name, process: child, ended };
  running.push(started);
  return started;
}

/** Asks both to finish what is in flight, front first, so that nothing is handed on to a closed door. */
function stop(code: number): Promise<void> {
  stopping ??= (async () => {
    for (const { process: child, ended } of [...running].reverse()) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await ended;
      }
    }
    process.exitCode = code;
  })();
  return stopping;
}

/** Resolves when it takes messages; false where it ends first. */
async function takesMessages(started: Started, adminPort: number): Promise<boolean> {
  started.process.stdout?.resume();
  for (;;) {
    if (started.process.exitCode !== null || started.process.signalCode !== null) return false;
    const ready = await fetch(`http://127.0.0.1:${adminPort}/readyz`).then((answer) => answer.ok, () => false);
    if (ready) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const { data } = values;
  if (values.fresh) rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0));

  const port = await portNear(Number(values.port));
  const accessPointPort = await portNear(Number(values['access-point-port']));
  const adminPort = await portNear(Number(values['admin-port']));
  const own = testKeys(join(data, 'keys'), 'as4-once-receiver');
  const partner = testKeys(join(data, 'keys'), 'as4-once-sender');

  const accessPointAdmin = await portNear(0);
  const behind = join(data, 'access-point.yaml');
  writeFileSync(behind, accessPointConfig(accessPointPort, accessPointAdmin, own, partner));
  const accessPoint = start('The access point', 'src/cli/main.js', ['serve', '--config', behind]);
  if (!(await takesMessages(accessPoint, accessPointAdmin))) return;

  const config = join(data, 'front.yaml');
  writeFileSync(config, [
    '# Written by npm start.',
    'role: front',
    `listen: 127.0.0.1:${port}`,
    `upstream: http://127.0.0.1:${accessPointPort}/as4`,
    'accessPoint: other',
    'ledger: { embedded: ./ledger }',
    `admin: { listen: 127.0.0.1:${adminPort}, token: ${TOKEN} }`,
    'log: { file: ./front.log }',
    'defaults: { window: 90d }',
    '',
  ].join('\n'));
  const front = start('as4-once', 'src/cli/main.js', ['serve', '--config', config]);
  if (!(await takesMessages(front, adminPort))) return;
  if (stopping === undefined) explain({ port, accessPointPort, adminPort, partner });
}

/** Whatever the sender's key has signed is taken, encrypted or not; each message becomes one folder. */
function accessPointConfig(port: number, adminPort: number, own: KeyFiles, partner: KeyFiles): string {
  const named = (path: string): string => JSON.stringify(relative(values.data, path));
  return [
    '# Written by npm start: the access point, which is as4-once too. The keys are for trying out only.',
    'role: endpoint',
    `listen: 127.0.0.1:${port}`,
    'endpoint:',
    '  profile: custom',
    `  keys: { certificate: ${named(own.certificate)}, key: ${named(own.key)} }`,
    '  backend: { directory: deliveries }',
    `security: { trust: ${named(partner.certificate)}, encryption: optional }`,
    'ledger: { embedded: ./access-point-ledger }',
    `admin: { listen: 127.0.0.1:${adminPort} }`,
    'log: { file: ./access-point.log }',
    'defaults: { window: 90d }',
    '',
  ].join('\n');
}

interface Running {
  readonly port: number;
  readonly accessPointPort: number;
  readonly adminPort: number;
  readonly partner: KeyFiles;
}

function explain({ port, accessPointPort, adminPort, partner }: Running): void {
  const here = (path: string): string => relative(process.cwd(), path);
  const deliveries = here(join(values.data, 'deliveries'));
  const send = ['node', here(join(BUILT, 'conformance/main.js')), 'send', '--url', `http://127.0.0.1:${port}/as4`,
    '--file', here(join(ROOT, 'demo/invoice.xml')), '--key', here(partner.key), '--cert', here(partner.certificate), '--times', '2'].join(' ');
  process.stdout.write(`
  sender  ─────▶  as4-once (front)  ─────▶  access point (as4-once, endpoint)  ─────▶  ${deliveries}/
                  127.0.0.1:${String(port).padEnd(5)}           127.0.0.1:${accessPointPort}
                  embedded ledger           verifies, delivers, signs the Receipt

Send one message twice, from another terminal:

  ${send}

It shows two Receipts with the same sha256, the second one "identical to the first answer", and

  ls ${deliveries}

has one new folder, not two: the payload and message.json. The second copy never reached the access point. What as4-once
did: ${here(join(values.data, 'front.log'))}; and http://127.0.0.1:${adminPort}/ (the dashboard; its token is ${TOKEN}).

Ctrl-C stops both.
`);
}

await main();
