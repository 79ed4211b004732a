import { existsSync, readdirSync, writeFileSync } from 'node:fs';
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
    expect(child.stdout()).toMatch(/sender {2}─+▶ {2}as4-once \(front\) {2}─+▶ {2}sample access point/);
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
    expect(existsSync(join(folder.path, 'deliveries')) ? deliveries() : []).toEqual([]);
  });

  it('delivers once where the access point refuses the first attempt', async () => {
    const { out } = await printedCommand(await start('--fail-first'));
    expect(out).toMatch(/copy 1: .*EBMS:0202/);
    expect(out).toMatch(/copy 2: HTTP 200, Receipt/);
    expect(deliveries()).toHaveLength(1);
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
