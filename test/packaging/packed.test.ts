import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publint } from 'publint';
import { blocks } from '../admin/documents.js';
import { ROOT, built } from '../support/child.js';
import { startProcess } from '../support/owned-process.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

interface Manifest {
  readonly exports: Record<string, unknown>;
  readonly bin: Record<string, string>;
  readonly dependencies: Record<string, string>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json').map((entry) => `as4-once${entry.slice(1)}`);

let temp: TempDir;
let tarball: string;
let project: string;
let packed: string[];

/**
 * An empty project with the packed package in it, as `npm install` leaves it: the tarball unpacked, and the declared
 * dependencies (and no others) beside it. They are linked from this checkout, so that the test needs no network.
 */
beforeAll(() => {
  built('dist/src/index.js');
  temp = tempDir('packed');
  const [made] = JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', temp.path], { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })) as
    [{ filename: string; files: { path: string }[] }];
  tarball = join(temp.path, made.filename);
  packed = made.files.map((file) => file.path);
  project = join(temp.path, 'project');
  const home = join(project, 'node_modules', 'as4-once');
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1']);
  for (const name of [...Object.keys(manifest.dependencies), join('@types', 'node')]) link(name);
  writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true}');
});

/** Makes a package of this checkout one of the empty project's. */
function link(name: string): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), path, 'dir');
}

afterAll(() => temp?.remove());

/** A program of the empty project, run to its end. */
async function run(name: string, text: string): Promise<{ code: number | null; out: string; err: string }> {
  writeFileSync(join(project, name), text);
  const child = await startProcess(process.execPath, [name], { cwd: project });
  const { code } = await child.ended;
  return { code, out: child.stdout(), err: child.stderr() };
}

describe('the packed package', () => {
  it('holds what it needs and nothing of the workshop', () => {
    for (const path of ['README.md', 'LICENSE', 'package.json', 'dist/src/index.js', 'dist/src/index.d.ts', 'src/admin/dashboard/index.html', ...Object.values(manifest.bin)]) expect(packed).toContain(path);
    expect(packed.filter((path) => /^(src\/(?!admin\/dashboard\/)|test\/|bench\/|demo\/|scripts\/|dist\/(test|bench|demo|examples)\/)/.test(path))).toEqual([]);
    expect(packed.filter((path) => path.endsWith('.tgz') || path.includes('node_modules'))).toEqual([]);
  });

  it.each(entries)('%s can be imported', async (entry) => {
    const { code, out, err } = await run('import.mjs', `import * as all from '${entry}';\nconsole.log(Object.keys(all).length);\n`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(Number(out)).toBeGreaterThan(0);
  });

  it.each(entries)('%s can be required: no top-level await anywhere in it', async (entry) => {
    const { code, out, err } = await run('require.cjs', `console.log(Object.keys(require('${entry}')).length);\n`);
    expect({ code, err: err.replace(/^.*ExperimentalWarning[^\n]*\n.*trace-warnings[^\n]*\n/m, '') }).toEqual({ code: 0, err: '' });
    expect(Number(out)).toBeGreaterThan(0);
  });

  it('the main entry works without any client of a store: they come with ./redis and ./lmdb', async () => {
    const clients = ['ioredis', 'redis', 'lmdb'];
    for (const name of clients) rmSync(join(project, 'node_modules', name));
    try {
      const { code, err } = await run('without.mjs', "import { createFront, memoryLedger } from 'as4-once';\nif (!createFront || !memoryLedger) throw new Error('missing');\n");
      expect({ code, err }).toEqual({ code: 0, err: '' });
    } finally {
      for (const name of clients) link(name);
    }
  });

  /** What TypeScript says of some files of the empty project. */
  async function compile(...files: string[]): Promise<{ code: number | null; out: string }> {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const child = await startProcess(process.execPath, [tsc, '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', ...files], { cwd: project });
    const { code } = await child.ended;
    return { code, out: child.stdout() };
  }

  it('compiles in somebody else\'s strict TypeScript, our types checked too', async () => {
    const using = entries.map((entry, i) => `import * as entry${i} from '${entry}';\nexport const names${i}: readonly string[] = Object.keys(entry${i});\n`).join('');
    writeFileSync(join(project, 'using.mts'), using);
    const { code, out } = await compile('using.mts');
    const ours = out.split('\n').filter((line) => /^(using|node_modules\/as4-once\/)/.test(line));
    expect(ours, out).toEqual([]);
    expect(code, out).toBe(0);
  });

  // the README's programs were compiled by nobody, and there was none for the endpoint
  it('compiles the programs that the README shows, as they stand there', async () => {
    const programs = blocks(readFileSync(join(ROOT, 'README.md'), 'utf8'), 'ts');
    for (const named of ['createFront({', 'createEndpoint({']) expect(programs.some((program) => program.includes(named)), named).toBe(true);
    const around = 'declare const app: { use(path: string, handler: import("as4-once").Handler): void };\ndeclare function book(key: string, document: Buffer): Promise<void>;\n';
    const files = programs.map((program, i) => {
      writeFileSync(join(project, `readme-${i}.mts`), program + around);
      return `readme-${i}.mts`;
    });
    const { code, out } = await compile(...files);
    expect(code, out).toBe(0);
  });

  it.each(Object.entries(manifest.bin))('the command %s starts from where npm puts it', async (name, path) => {
    const command = join(project, 'node_modules', '.bin', name);
    mkdirSync(dirname(command), { recursive: true });
    symlinkSync(join('..', 'as4-once', path), command);
    const child = await startProcess(process.execPath, [command, '--help'], { cwd: project });
    expect((await child.ended).code, child.stderr()).toBe(0);
    expect(child.stdout()).toContain(name);
    expect(readFileSync(command, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
  });

  it('has nothing that publint would warn of', async () => {
    const { messages } = await publint({ pkgDir: join(project, 'node_modules', 'as4-once'), strict: true, level: 'warning' });
    expect(messages.map((message) => `${message.code} ${message.path.join('.')}`)).toEqual([]);
  });

  it('gives every way of resolving types the right ones', async () => {
    const attw = join(ROOT, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js');
    // esm-only: require() of an ES module is what this package is for; TypeScript's old `node10` resolution is not.
    const child = await startProcess(process.execPath, [attw, tarball, '--profile', 'esm-only', '--no-color', '--no-emoji', '--format', 'ascii']);
    const { code } = await child.ended;
    expect(code, child.stdout() + child.stderr()).toBe(0);
  });
});
