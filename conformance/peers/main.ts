import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EXIT } from '../exit.js';
import { REQUIREMENTS } from '../registry.js';
import { makeReport } from '../report/make.js';
import { Progress } from '../report/progress.js';
import type { Report } from '../report/schema.js';
import { runSuite } from '../run/runner.js';
import { selectRequirements } from '../select.js';
import { endpointPeer } from './endpoint-scene.js';
import { frontPeer } from './front-scene.js';
import { phase4Peer } from './phase4-scene.js';
import { knownFailures, publish, publishTable, republish } from './publish.js';
import type { Peer, Surroundings } from './scene.js';

const PEERS: readonly Peer[] = [endpointPeer, frontPeer, phase4Peer(false), phase4Peer(true)];

const HELP = `npm run conformance:peers [-- --peer NAME …] [--only ID,…] [--jobs N] [--work DIR]
                                 [--no-publish] [--rewrite]
  Runs the suite on as4-once and on the access points in ../shared/peers, and publishes to conformance/results/.
  --rewrite writes the published pages anew, without a run: after a change of expected.yaml.
  Peers: ${PEERS.map(({ name }) => name).join(', ')}
`;

/** The project's root, from conformance/peers/ or dist/conformance/peers/. */
function projectRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'conformance'))) return folder;
  }
  throw new Error('the project is not found');
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      peer: { type: 'string', multiple: true },
      only: { type: 'string' },
      jobs: { type: 'string' },
      work: { type: 'string' },
      'no-publish': { type: 'boolean' },
      rewrite: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  const project = projectRoot();
  const names = PEERS.map(({ name }) => name);
  if (values.rewrite === true) {
    for (const name of names) republish(project, name);
    publishTable(project, names);
    return EXIT.ok;
  }
  const shared = resolve(project, process.env['AS4_ONCE_SHARED'] ?? '../shared');
  const root = values.work ?? mkdtempSync(join(tmpdir(), 'as4-once-peers-'));
  let ok = true;
  for (const peer of PEERS.filter(({ name }) => values.peer === undefined || values.peer.includes(name))) {
    const where: Surroundings = { shared, project, work: join(root, peer.name) };
    mkdirSync(where.work, { recursive: true });
    const missing = await peer.missing(where);
    if (missing !== undefined) {
      process.stdout.write(`${peer.name}: skipped, ${missing}\n`);
      continue;
    }
    process.stdout.write(`\n# ${peer.name} (logs in ${where.work})\n`);
    const report = await judge(peer, where, values.only, Number(values.jobs ?? '4'));
    process.stdout.write(
      `${peer.name}: ${Object.entries(report.totals)
        .filter(([, count]) => count > 0)
        .map(([verdict, count]) => `${count} ${verdict}`)
        .join(', ')}\n`,
    );
    if (values['no-publish'] !== true && values.only === undefined) publish(project, peer.name, report);
    // what a peer does is reported; what as4-once does has to be right
    if (peer.name.startsWith('as4-once') && !report.ok) ok = false;
  }
  if (values['no-publish'] !== true && values.only === undefined) publishTable(project, names);
  return ok ? EXIT.ok : EXIT.failed;
}

async function judge(peer: Peer, where: Surroundings, only: string | undefined, jobs: number): Promise<Report> {
  const scene = await peer.start(where);
  try {
    const requirements = selectRequirements(REQUIREMENTS, only, undefined);
    const expected = knownFailures(where.project, peer.name);
    const progress = new Progress(process.stdout, requirements.length);
    const startedAt = new Date();
    const began = performance.now();
    const results = await runSuite(scene.target, {
      requirements,
      jobs,
      onStart: (next) => progress.start(next),
      onResult: (result) => progress.end(result),
    });
    progress.finish();
    const durationMs = performance.now() - began;
    return makeReport(scene.target, results, { strict: false, startedAt, durationMs, expected });
  } finally {
    await scene.stop();
  }
}

process.exitCode = await main(process.argv.slice(2));
