import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareReports, readReport } from '../compare.js';
import { EXIT } from '../exit.js';
import { REQUIREMENTS } from '../registry.js';
import { markdownReport } from '../report/markdown.js';
import { makeReport } from '../report/make.js';
import { Progress } from '../report/progress.js';
import { badge } from '../report/badge.js';
import { loadExpected } from '../report/expected.js';
import type { Report } from '../report/schema.js';
import { runSuite } from '../run/runner.js';
import { selectRequirements } from '../select.js';
import { endpointPeer } from './endpoint-scene.js';
import { frontPeer } from './front-scene.js';
import { phase4Peer } from './phase4-scene.js';
import type { Peer, Surroundings } from './scene.js';

const PEERS: readonly Peer[] = [endpointPeer, frontPeer, phase4Peer(false), phase4Peer(true)];

const HELP = `npm run conformance:peers [-- --peer NAME …] [--only ID,…] [--jobs N] [--work DIR] [--no-publish]
  Runs the suite on as4-once and on the access points in ../shared/peers, and publishes to conformance/results/.
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
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  const project = projectRoot();
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
  if (values['no-publish'] !== true && values.only === undefined) publishTable(project);
  return ok ? EXIT.ok : EXIT.failed;
}

async function judge(peer: Peer, where: Surroundings, only: string | undefined, jobs: number): Promise<Report> {
  const scene = await peer.start(where);
  try {
    const requirements = selectRequirements(REQUIREMENTS, only, undefined);
    const known = join(resultsOf(where.project), peer.name, 'expected.yaml');
    const expected = existsSync(known) ? loadExpected(known, new Set(REQUIREMENTS.map(({ id }) => id))) : new Map();
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
    return withoutPlaces(
      makeReport(scene.target, results, { strict: false, startedAt, durationMs: performance.now() - began, expected }),
    );
  } finally {
    await scene.stop();
  }
}

/** Ports of one run say nothing to a reader and make every report differ from the last. */
function withoutPlaces(report: Report): Report {
  return JSON.parse(JSON.stringify(report).replaceAll(/127\.0\.0\.1:\d{4,5}/g, '127.0.0.1:0')) as Report;
}

function resultsOf(project: string): string {
  return join(project, 'conformance/results');
}

function publish(project: string, name: string, report: Report): void {
  const folder = join(resultsOf(project), name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
  writeFileSync(join(folder, 'report.md'), markdownReport(report));
  writeFileSync(join(folder, 'badge.json'), `${JSON.stringify(badge(report))}\n`);
}

function publishTable(project: string): void {
  const root = resultsOf(project);
  const published = PEERS.map(({ name }) => name).filter(
    (name) => readdirSync(root).includes(name) && existsSync(join(root, name, 'report.json')),
  );
  const reports = published.map((name) => readReport(join(root, name, 'report.json')));
  const intro = readFileSync(join(root, 'intro.md'), 'utf8');
  const runs = reports.map(
    ({ target, date, suite }, index) =>
      `| [${target.name}](${published[index]}/report.md) | ${date.slice(0, 10)} | ${suite.version} | ` +
      `${target.notes ?? ''} |`,
  );
  writeFileSync(
    join(root, 'README.md'),
    `${intro}\n| run | date | suite | how it was configured |\n|---|---|---|---|\n${runs.join('\n')}` +
    `\n\n${compareReports(reports, false)}`,
  );
}

process.exitCode = await main(process.argv.slice(2));
