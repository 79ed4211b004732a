import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../support/child.js';
import { startProcess } from '../support/owned-process.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

let temp: TempDir;
const at = (...path: string[]): string => join(temp.path, ...path);

/** A small checkout with our scripts, one source, and the packages of this one. */
beforeEach(() => {
  temp = tempDir('prepare');
  for (const folder of ['scripts', 'src', 'bin']) mkdirSync(at(folder));
  for (const file of ['scripts/prepare.mjs', 'scripts/install-program.mjs', 'package-lock.json', 'package.json', 'tsconfig.json']) copyFileSync(join(ROOT, file), at(file));
  symlinkSync(join(ROOT, 'node_modules'), at('node_modules'), 'dir');
  writeFileSync(at('src', 'one.ts'), 'export const one: number = 1;\n');
});
afterEach(() => temp.remove());

async function prepare(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<{ code: number | null; said: string }> {
  const child = await startProcess(process.execPath, [at('scripts', 'prepare.mjs'), ...args], { cwd: ROOT, env: { ...process.env, ...env } });
  const { code } = await child.ended;
  return { code, said: child.stdout() + child.stderr() };
}

/** A program on a PATH of its own. */
function program(name: string, script: string): void {
  writeFileSync(at('bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(at('bin', name), 0o755);
}

describe('scripts/prepare.mjs', () => {
  it('builds what was not built, and says nothing when all is done', async () => {
    expect(await prepare()).toEqual({ code: 0, said: 'prepare: building dist/\n' });
    expect(existsSync(at('dist', 'src', 'one.js'))).toBe(true);
    expect(await prepare()).toEqual({ code: 0, said: '' });
  });

  it('builds again after a change, and takes away what has no source any more', async () => {
    await prepare();
    writeFileSync(at('src', 'two.ts'), 'export const two: number = 2;\n');
    rmSync(at('src', 'one.ts'));
    expect((await prepare()).said).toBe('prepare: building dist/\n');
    expect(existsSync(at('dist', 'src', 'two.js'))).toBe(true);
    for (const ending of ['js', 'd.ts', 'js.map']) expect(existsSync(at('dist', 'src', `one.${ending}`))).toBe(false);
    expect(await prepare()).toEqual({ code: 0, said: '' });
  });

  it('fails with the compiler\'s line when the source is wrong, and tries again next time', async () => {
    writeFileSync(at('src', 'one.ts'), 'export const one: number = "1";\n');
    for (let run = 0; run < 2; run += 1) {
      const { code, said } = await prepare();
      expect(code).toBe(1);
      expect(said).toMatch(/src\/one\.ts.*TS2322[\s\S]*prepare: the build failed/);
    }
  });

  it('installs packages with npm ci when they are not what the lock file says', async () => {
    rmSync(at('node_modules'));
    mkdirSync(at('node_modules'));
    const lock = readFileSync(join(ROOT, 'node_modules', '.package-lock.json'), 'utf8');
    writeFileSync(at('node_modules', '.package-lock.json'), lock.replace(/("node_modules\/saxes": \{\s*"version": ")[^"]*/, '$10.0.1'));
    writeFileSync(at('npm.mjs'), 'console.error("npm was asked for", process.argv.slice(2).join(" ")); process.exit(9);');
    const { code, said } = await prepare([], { npm_execpath: at('npm.mjs') });
    expect(code).toBe(1);
    expect(said).toContain('installing packages (node_modules/saxes is not what package-lock.json says)');
    expect(said).toContain('npm was asked for ci --include=dev');
    expect(said).toContain('npm ci failed');
  });

  it('refuses an option it does not know', async () => {
    expect(await prepare(['--everything'])).toEqual({ code: 1, said: 'prepare: unknown option --everything; known are --redis and --chromium.\n' });
  });

  describe('sees to Redis', () => {
    const fakeServer = 'echo "Redis server v=7.4.1 sha=0 bits=64"';
    const onlyOurs = (): Readonly<Record<string, string>> => ({ PATH: at('bin') });
    beforeEach(async () => {
      await prepare();
    });

    it('and says nothing where it is', async () => {
      program('redis-server', fakeServer);
      expect(await prepare(['--redis'], onlyOurs())).toEqual({ code: 0, said: '' });
    });

    it('says in one sentence that it cannot, where there is no package manager', async () => {
      const { code, said } = await prepare(['--redis'], onlyOurs());
      expect(code).toBe(1);
      expect(said).toMatch(/^prepare: redis-server 7\.0 or newer is not installed, and no package manager known here \(apt-get, .*\) was found\. Please install it/);
    });

    it('announces it, then installs it with the package manager, as root or by sudo', async () => {
      program('sudo', 'if [ "$1" = -n ]; then shift; fi; exec "$@"');
      program('true', 'exit 0');
      program('apt-get', `echo "apt-get $*" >> "${at('asked')}"; if [ "$1" = install ]; then printf '#!/bin/sh\\n${fakeServer.replaceAll('"', '')}\\n' > "${at('bin', 'redis-server')}"; /bin/chmod 755 "${at('bin', 'redis-server')}"; fi`);
      const { code, said } = await prepare(['--redis'], onlyOurs());
      expect({ code, said }).toEqual({ code: 0, said: 'prepare: redis-server 7.0 or newer is not installed; installing it with apt-get, since the tests run against a real Redis\n' });
      expect(readFileSync(at('asked'), 'utf8').split('\n').filter((line) => !line.includes('--version'))).toEqual([
        'apt-get update -q', 'apt-get install -y -q --no-install-recommends redis-server', '',
      ]);
    });

    it('does not take an old one for good enough, nor a failed installation for done', async () => {
      program('redis-server', 'echo "Redis server v=6.0.16 sha=0"');
      program('sudo', 'if [ "$1" = -n ]; then shift; fi; exec "$@"');
      program('true', 'exit 0');
      program('apk', 'if [ "$1" = --version ]; then echo apk; exit 0; fi; exit 1');
      const { code, said } = await prepare(['--redis'], onlyOurs());
      expect(code).toBe(1);
      expect(said).toContain('needed, found is Redis server v=6.0.16');
      expect(said).toContain('apk could not install it');
    });
  });
});
