import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT, startNode } from '../support/child.js';
import { startProcess, type OwnedProcess } from '../support/owned-process.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

let folder: TempDir;
let demo: OwnedProcess | undefined;

const start = async (...args: string[]): Promise<OwnedProcess> => {
  demo = await startNode('dist/demo/start.js', ['--data', folder.path, '--port', '0', '--access-point-port', '0', '--admin-port', '0', ...args], { cwd: ROOT });
  return demo;
};
const deliveries = (): string[] => readdirSync(join(folder.path, 'deliveries'));

const logged = (name: string): Record<string, unknown>[] => readFileSync(join(folder.path, name), 'utf8').trimEnd().split('\n')
  .map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ event }) => event === 'exchange');

beforeEach(() => {
  folder = tempDir('demo');
});
afterEach(async () => {
  await demo?.stop();
  folder.remove();
});

/** The one command that `npm start` prints, run as it stands there. */
async function printedCommand(child: OwnedProcess, more: readonly string[] = []): Promise<{ code: number | null; out: string }> {
  const [, line] = await child.waitFor(/^ {2}(node \S+ send .*)$/m);
  const [, ...args] = (line as string).split(' ');
  const sender = await startProcess(process.execPath, [...args, ...more], { cwd: ROOT });
  const { code } = await sender.ended;
  return { code, out: sender.stdout() + sender.stderr() };
}

describe('npm start', () => {
  it('shows what it promises: the same Receipt twice, one delivery', async () => {
    const child = await start();
    const { code, out } = await printedCommand(child);
    expect(code, out).toBe(0);
    expect(out).toMatch(/copy 2: HTTP 200, Receipt .* signature valid/);
    expect(out).toContain('identical to the first answer');
    expect(out).not.toContain('NOT identical');
    expect(deliveries()).toHaveLength(1);
    const [delivery] = deliveries();
    expect(readFileSync(join(folder.path, 'deliveries', delivery ?? '', 'payload-1.xml'), 'utf8')).toBe(readFileSync(join(ROOT, 'demo/invoice.xml'), 'utf8'));
    // the access point signed with the key that was made for it, and saw the message once
    expect(logged('access-point.log').map((line) => line['answer'])).toEqual(['first']);
    expect(logged('front.log').map((line) => line['answer'])).toEqual(['first', 'replay']);
    expect(child.stdout()).toMatch(/sender {2}─+▶ {2}as4-once \(front\) {2}─+▶ {2}access point \(as4-once, endpoint\)/);
  });

  it('remembers over a restart, and forgets with --fresh', async () => {
    const id = ['--message-id', 'restart@demo.test'];
    await printedCommand(await start(), id);
    expect((await (demo as OwnedProcess).stop()).code).toBe(0);
    await printedCommand(await start(), id);
    expect(deliveries()).toHaveLength(1);
    await (demo as OwnedProcess).stop();
    const child = await start('--fresh');
    await child.waitFor(/Ctrl-C stops both/);
    expect(existsSync(join(folder.path, 'deliveries'))).toBe(false);
  });

  it('stops both at Ctrl-C, and leaves nothing listening', async () => {
    const child = await start();
    const [, port] = await child.waitFor(/127\.0\.0\.1:(\d+) +127\.0\.0\.1:\d+/);
    child.signal('SIGINT');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  it('says which part failed, and stops the other', async () => {
    writeFileSync(join(folder.path, 'ledger'), 'not a folder');
    const child = await start();
    const { code } = await child.ended;
    expect(code).toBe(1);
    expect(child.stderr()).toContain('as4-once ended by itself');
  });
});

describe('npm run start:endpoint', () => {
  it('shows what it promises: signed and encrypted, the same Receipt twice, one delivery', async () => {
    demo = await startNode('dist/demo/start-endpoint.js', ['--data', folder.path, '--port', '0', '--admin-port', '0'], { cwd: ROOT });
    const { code, out } = await printedCommand(demo);
    expect(code, out).toBe(0);
    expect(demo.stdout()).toMatch(/ --encrypt \S+\.crt /);
    expect(out).toContain('identical to the first answer');
    expect(out).not.toContain('NOT identical');
    expect(deliveries()).toHaveLength(1);
    expect(logged('endpoint.log').map((line) => line['answer'])).toEqual(['first', 'replay']);
    demo.signal('SIGINT');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
  });
});
