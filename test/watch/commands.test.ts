import { existsSync, mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { edifact } from '../edi/samples.js';
import { ROOT, runCli, startCli, type Ran } from '../support/child.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

const CONFIG = `role: front
ledger: { embedded: ./data }
watch:
  - { name: orders, protocol: edifact, in: ./in, out: ./out, acks: ./acks, ackOut: ./ackOut, stable: 1ms, poll: 100ms }
`;
const reused = edifact('1', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" });

describe.skipIf(!existsSync(join(ROOT, 'dist/src/cli/main.js')))('the commands (skipped where nothing is built: node scripts/prepare.mjs)', () => {
  let folder: TempDir;
  const at = (...path: string[]): string => join(folder.path, ...path);
  const run = (...args: string[]): Promise<Ran> => runCli([...args, '--config', at('edi.yaml')]);
  const put = (path: string, text: string): string => {
    writeFileSync(at(path), text, 'latin1');
    utimesSync(at(path), 1_700_000_000, 1_700_000_000);
    return at(path);
  };
  beforeEach(() => {
    folder = tempDir('commands');
    writeFileSync(at('edi.yaml'), CONFIG);
    for (const name of ['in', 'out', 'acks', 'ackOut', 'quarantine']) mkdirSync(at(name));
  });
  afterEach(() => folder.remove());

  it('watch --once makes one pass, accept requeues what it refused', async () => {
    put('in/a.edi', edifact('1'));
    put('in/b.edi', reused);
    const first = await run('watch', '--once');
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout.trim().split('\n').map((line) => (JSON.parse(line) as { answer?: string }).answer).filter(Boolean)).toEqual(['first', 'mismatch']);
    expect([readdirSync(at('out')), readdirSync(at('quarantine'))]).toEqual([['a.edi'], ['b.edi', 'b.edi.reason.json']]);
    expect(await run('accept', at('quarantine/b.edi'), '--reason', 'checked')).toMatchObject({ code: 0, stdout: 'requeued: the next pass of orders delivers it\n' });
    expect(await run('watch', '--once', '--name', 'orders')).toMatchObject({ code: 0 });
    expect(readdirSync(at('out'))).toEqual(['a.edi', 'b.edi']);
    expect(await run('watch', '--once', '--name', 'none')).toMatchObject({ code: 2 });
    expect(await run('accept', at('out/a.edi'), '--reason', 'x')).toMatchObject({ code: 2 });
  });

  it('watch runs until it is told to end, and leaves nothing behind', async () => {
    const child = await startCli(['watch', '--config', at('edi.yaml')], { ready: /watches 1 folder/ });
    put('in/a.edi', edifact('1'));
    await child.waitFor(/"answer":"first"/);
    const { code } = await child.stop();
    expect([code, readdirSync(at('out')), readdirSync(at('work/.watchers'))]).toEqual([0, ['a.edi'], []]);
  });

  it('claim, settle and release let a pipeline of one\'s own ask', async () => {
    const file = put('a.edi', edifact('1'));
    const first = await run('claim', file);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(await run('claim', file)).toMatchObject({ code: 12 });
    expect(await run('release', '--token', first.stdout.trim(), '--outcome', 'rejected')).toMatchObject({ code: 0 });

    const second = await run('claim', file, '--json');
    const { token } = JSON.parse(second.stdout) as { token: string };
    expect(await run('release', '--token', first.stdout.trim(), '--outcome', 'rejected')).toMatchObject({ code: 1 });
    expect(await run('settle', '--token', token)).toMatchObject({ code: 0 });
    expect(await run('claim', file)).toMatchObject({ code: 10, stdout: '' });
    expect(await run('settle', '--token', token, '--ack', put('a.contrl', 'the acknowledgement\r\n'))).toMatchObject({ code: 0 });
    expect(await run('claim', file, '--ack', at('again'))).toMatchObject({ code: 10, stdout: 'the acknowledgement\r\n' });
    expect(readFileSync(at('again'), 'utf8')).toBe('the acknowledgement\r\n');

    expect(await run('claim', put('b.edi', reused))).toMatchObject({ code: 11, stderr: expect.stringContaining('firstSeen') });
    expect(await run('claim', put('c.edi', edifact('2').slice(0, -4)))).toMatchObject({ code: 20, stderr: expect.stringContaining('offset') });
    expect(await run('claim', put('d.edi', edifact('1') + edifact('2')))).toMatchObject({ code: 1 });
    expect(await run('claim', at('none.edi'))).toMatchObject({ code: 2 });
    expect(await run('settle', '--token', 'nonsense')).toMatchObject({ code: 2 });
  });

  it('a claim of a pipeline that vanished ends with its lease and waits for an operator', async () => {
    const file = put('a.edi', edifact('1'));
    expect(await run('claim', file, '--for', '1ms')).toMatchObject({ code: 0 });
    expect(await run('claim', file)).toMatchObject({ code: 11 });
    expect(await run('show', '1')).toMatchObject({ code: 0, stdout: expect.stringContaining('held') });
  });
});
