/**
 * `npm start`: as4-once as a front, with the embedded ledger, before the sample access point; two processes of their
 * own. Prints the one command that sends a sample message twice, and what it will show. Ctrl-C stops both.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { portNear } from './ports.js';

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROOT = join(BUILT, '..');

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(ROOT, 'demo-data') },
    port: { type: 'string', default: '8080' },
    'access-point-port': { type: 'string', default: '8081' },
    'admin-port': { type: 'string', default: '9464' },
    slow: { type: 'string', default: '0' },
    'fail-first': { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const HELP = `npm start -- [options]
  --port N               the front listens here (8080; another free one if taken)
  --access-point-port N  the sample access point listens here (8081)
  --admin-port N         dashboard, health and metrics of the front (9464)
  --data DIR             ledger, deliveries, log (demo-data)
  --fresh                forget what earlier runs left in DIR
  --slow MS              the access point thinks so long before it answers
  --fail-first           the access point refuses the first attempt of every message
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

/** Resolves when the process prints a line that fits; false where it ends first. */
function printed({ process: child, ended }: Started, line: RegExp): Promise<boolean> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (line.test(text)) resolve(true);
    });
    void ended.then(() => resolve(false));
  });
}

/** Resolves when the front takes messages; false where it ends first. */
async function takesMessages(front: Started, adminPort: number): Promise<boolean> {
  front.process.stdout?.resume();
  for (;;) {
    if (front.process.exitCode !== null || front.process.signalCode !== null) return false;
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
  const deliveries = join(data, 'deliveries');

  const accessPoint = start('The sample access point', 'demo/sample-access-point.js', [
    '--port', String(accessPointPort), '--deliveries', deliveries, '--slow', values.slow,
    ...(values['fail-first'] ? ['--fail-first'] : []),
  ]);
  if (!(await printed(accessPoint, /listening/))) return;

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
  if (stopping === undefined) explain(port, accessPointPort, adminPort, relative(process.cwd(), deliveries));
}

function explain(port: number, accessPointPort: number, adminPort: number, deliveries: string): void {
  const url = `http://127.0.0.1:${port}/as4`;
  const send = ['node', relative(process.cwd(), join(BUILT, 'conformance/main.js')), 'send', '--url', url,
    '--file', relative(process.cwd(), join(ROOT, 'demo/invoice.xml')), '--times', '2'].join(' ');
  process.stdout.write(`
  sender  ─────▶  as4-once (front)  ─────▶  sample access point  ─────▶  ${deliveries}/
                  127.0.0.1:${String(port).padEnd(5)}           127.0.0.1:${accessPointPort}
                  embedded ledger           signs a new Receipt for whatever it gets

Send one message twice, from another terminal:

  ${send}

It shows two Receipts with the same sha256, the second one "identical to the first answer", and

  ls ${deliveries}

has one new file, not two. What as4-once did: ${relative(process.cwd(), join(values.data, 'front.log'))}; and
http://127.0.0.1:${adminPort}/ (the dashboard; its token is ${TOKEN}).
Without as4-once in between (--url http://127.0.0.1:${accessPointPort}/as4) the same command delivers twice.

Ctrl-C stops both.
`);
}

await main();
