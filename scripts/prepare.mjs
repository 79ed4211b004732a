/**
 * Makes a checkout ready to run: installs the packages of package-lock.json, builds dist/, and with `--redis` or
 * `--chromium` sees to the programs the tests run against. Does nothing where everything is in place. Needs Node and
 * npm only; `npm start` and `npm test` call it first.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installProgram } from './install-program.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = ['src', 'conformance', 'demo', 'bench', 'test', 'examples'];

function say(line) {
  process.stderr.write(`prepare: ${line}\n`);
}

function stop(line) {
  say(line);
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) stop(`Node 20.19 or newer is needed; this is ${process.version}.`);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Why the packages have to be installed, or undefined. npm keeps a list of what it installed in node_modules. */
function packagesMissing() {
  const wanted = readJson(join(ROOT, 'package-lock.json'));
  const installed = readJson(join(ROOT, 'node_modules', '.package-lock.json'));
  if (wanted === undefined) stop('package-lock.json is missing or broken; this is not a whole checkout.');
  if (installed === undefined) return 'node_modules is missing';
  for (const [path, entry] of Object.entries(wanted.packages)) {
    if (path === '' || entry.optional || entry.devOptional) continue;
    if (installed.packages[path]?.version !== entry.version) return `${path} is not what package-lock.json says`;
  }
  return undefined;
}

function npm(args) {
  const own = process.env.npm_execpath;
  const [command, first] = own === undefined ? [process.platform === 'win32' ? 'npm.cmd' : 'npm', []] : [process.execPath, [own]];
  const { status, error } = spawnSync(command, [...first, ...args], { cwd: ROOT, stdio: ['ignore', 2, 2], shell: own === undefined && process.platform === 'win32' });
  if (error !== undefined) stop(`npm cannot be started: ${error.message}`);
  return status === 0;
}

function installPackages() {
  const why = packagesMissing();
  if (why === undefined) return;
  say(`installing packages (${why})`);
  if (!npm(['ci', '--include=dev', '--no-fund', '--no-audit'])) stop('npm ci failed; its own lines above say why.');
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

function sourceFiles() {
  return SOURCES.filter((name) => existsSync(join(ROOT, name)))
    .flatMap((name) => [...filesBelow(join(ROOT, name))])
    .filter((path) => path.endsWith('.ts'))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** Stands for the state of everything that goes into dist/: also a deleted file or another compiler changes it. */
function stateOf(files) {
  const hash = createHash('sha256');
  for (const path of [join(ROOT, 'tsconfig.json'), join(ROOT, 'package-lock.json'), ...files]) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${relative(ROOT, path)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** An output whose source is gone would still be found by an import, and be packed. */
function removeOrphans(files) {
  const known = new Set(files.map((path) => relative(ROOT, path).replace(/\.ts$/, '')));
  for (const path of filesBelow(join(ROOT, 'dist'))) {
    const source = relative(join(ROOT, 'dist'), path).replace(/(\.d\.ts|\.js)(\.map)?$/, '');
    if (source !== '.built' && !known.has(source)) rmSync(path);
  }
}

function build() {
  const files = sourceFiles();
  const state = stateOf(files);
  const stamp = join(ROOT, 'dist', '.built');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  say('building dist/');
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  rmSync(stamp, { force: true });
  const { status } = spawnSync(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.json'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) stop('the build failed; the lines above say where.');
  removeOrphans(files);
  writeFileSync(stamp, state);
}

const wanted = new Set(process.argv.slice(2));
const known = new Set(['--redis', '--chromium']);
for (const option of wanted) {
  if (!known.has(option)) stop(`unknown option ${option}; known are ${[...known].join(' and ')}.`);
}
checkNode();
installPackages();
build();
for (const option of wanted) {
  const trouble = installProgram(option.slice(2), say);
  if (trouble === undefined) continue;
  // The ledger's tests mean nothing without a Redis; the dashboard's can be skipped, and say so.
  if (option === '--redis') stop(trouble);
  say(`${trouble} The browser tests will be skipped.`);
}
