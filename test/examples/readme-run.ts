import { cpSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/child.js';
import { freePorts } from '../support/free-port.js';
import { startProcess } from '../support/owned-process.js';
import { tempDir } from '../support/temp-dir.js';

/** What an example's README did in a copy of its own. */
export interface ExampleRun {
  readonly code: number | null;
  /** Everything printed, for messages and searches. */
  readonly out: string;
  read(file: string): string;
  /** Names in a folder of the example, sorted; none where there is no such folder. */
  names(folder: string): string[];
  remove(): void;
}

/** The commands of a README: its `sh` blocks, in order. */
function commandsOf(readme: string): string {
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block ?? '');
  if (blocks.length === 0) throw new Error('the README has no sh block');
  return blocks.join('');
}

/**
 * Runs the commands of examples/<name>/README.md, word for word, in a copy of the example beside a link to this build;
 * ports 8080 and 9000 alone are replaced by free ones. The first command that fails ends it.
 */
export async function runExample(name: string): Promise<ExampleRun> {
  const place = tempDir(`example-${name}`);
  for (const linked of ['dist', 'node_modules', 'package.json']) symlinkSync(join(ROOT, linked), join(place.path, linked));
  for (const copied of [name, 'receiver']) cpSync(join(ROOT, 'examples', copied), join(place.path, 'examples', copied), { recursive: true });
  const folder = join(place.path, 'examples', name);
  const ports = await freePorts(2);
  const program = withPorts(folder, ports);
  const script = join(folder, 'readme.sh');
  writeFileSync(script, `set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n${commandsOf(readFileSync(join(folder, 'README.md'), 'utf8'))}`);
  const shell = await startProcess('bash', [script], { cwd: folder, env: { ...process.env, ...program } });
  const { code } = await shell.ended;
  return {
    code,
    out: shell.stdout() + shell.stderr(),
    read: (file) => readFileSync(join(folder, file), 'latin1'),
    names: (of) => (statSync(join(folder, of), { throwIfNoEntry: false }) === undefined ? [] : readdirSync(join(folder, of)).sort()),
    remove: () => place.remove(),
  };
}

/** Replaces the two ports in every text of the copy; a program of dist/ is told by PORT. */
function withPorts(folder: string, [front = 0, receiver = 0]: readonly number[]): Record<string, string> {
  for (const file of readdirSync(folder)) {
    if (!/\.(yaml|md)$/.test(file)) continue;
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll(':8080', `:${front}`).replaceAll(':9000', `:${receiver}`).replaceAll('--port 9000', `--port ${receiver}`));
  }
  // what an earlier hand run left in the checkout is not part of the example
  for (const left of ['data', 'delivered', 'drop', 'booked', 'sent', 'answers']) rmSync(join(folder, left), { recursive: true, force: true });
  return { PORT: String(front) };
}
