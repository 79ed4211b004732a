import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_SCHEMAS } from '../../src/admin/command-schema.js';
import { backUp } from '../../src/operate/backup.js';
import { storeReply } from '../../src/receipt/stored-reply.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/sample.js';
import { freshId, message, post } from '../front/messages.js';
import { tempDir } from '../support/temp-dir.js';
import { asDocumented, held, shape } from './documented.js';
import { openTestLedger } from './open-test-ledger.js';
import { json, operator, program, startNaive } from './operator.js';

const ORDERS = "UNB+UNOC:3+4012345000009:14+4012345000016:14+240229:1305+REF1++ORDERS'UNH+1+ORDERS:D:96A:UN'BGM+220+1'UNT+3+1'UNZ+1+REF1'";

/**
 * Programs read what the commands print with --json, and only some of it was promised anywhere. The helper that runs the
 * commands holds every such output against schemas/, here and in all tests beside; this one runs each command once.
 */
describe('what commands print with --json', () => {
  const folder = tempDir('outputs');
  const at = (name: string): string => join(folder.path, name);
  const cli = operator(at('front.yaml'));
  let sample: Awaited<ReturnType<typeof startNaive>>;
  let receipt: Buffer;
  const id = freshId();
  beforeAll(async () => {
    writeFileSync(at('front.yaml'), 'role: front\nlisten: 127.0.0.1:0\nupstream: http://127.0.0.1:9/as4\naccessPoint: phase4\n'
      + 'ledger: { embedded: ./ledger }\nstate: ./state\nroutes:\n  - { path: /edi, protocol: edifact, upstream: "http://127.0.0.1:9" }\n');
    writeFileSync(at('orders.edi'), ORDERS);
    writeFileSync(at('broken.edi'), ORDERS.slice(0, 80));
    writeFileSync(at('other.edi'), ORDERS.replace('BGM+220+1', 'BGM+220+2'));
    sample = await startNaive(at('deliveries'));
    receipt = (await post(sample.url, message(id))).body;
    writeFileSync(at('receipt.xml'), receipt);
  });
  afterAll(async () => {
    await sample.process.kill();
    folder.remove();
  });

  it('check, with warnings, with --rate, and of a wrong file', async () => {
    await json(cli('check', '--config', at('front.yaml'), '--json', '--rate', '1000/day'));
    writeFileSync(at('wrong.yaml'), 'role: fron\n');
    expect((await cli('check', '--config', at('wrong.yaml'), '--json')).code).toBe(2);
  });

  it('import, and its lines', async () => {
    const firstSeen = new Date(Date.now() - 60_000).toISOString();
    mkdirSync(at('receipts'));
    writeFileSync(at('receipts/a.xml'), receipt);
    const lines: object[] = [
      { messageId: id, from: { value: 'POP000001', type: 't' }, firstSeen, receipt: 'a.xml' },
      { messageId: 'b', from: ['P', { value: 'Q' }], fromType: 't', firstSeen: Date.now() - 1, to: 'R' },
      { event: 'reload' },
    ];
    for (const line of lines) expect(shape('import-line').safeParse(line).error).toBeUndefined();
    for (const line of [{ messageId: 'b', firstSeen }, { messageId: 5, from: 'P', firstSeen }, { messageId: 'b', from: 'P', firstSeen: 'yesterday' }, [], 'x']) {
      expect(shape('import-line').safeParse(line).success).toBe(false);
    }
    writeFileSync(at('ids.jsonl'), [...lines, { from: 'P' }].map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(await json<object>(cli('import', at('ids.jsonl'), '--receipts', at('receipts'), '--route', '/', '--write', '--json'), 1)).toMatchObject({ fresh: 2, bad: 1 });
  });

  it('a backup in lines is a file of such lines', async () => {
    const source = await openTestLedger(at('source'));
    const claim = sampleClaim(sampleKey('settled'), 'a');
    await source.claim(claim);
    await source.settle({ ...sampleAttempt(claim).settle('x'), reply: storeReply({ status: 200, contentType: 'text/xml', body: Buffer.from('<a/>') }) });
    await source.note({ shelf: `tally/${new Date().toISOString().slice(0, 10)}`, entries: { x: '{}' }, keptMs: 1_000_000 });
    await backUp(new Proxy(source, { get: (target, name) => (name === 'copyTo' ? undefined : Reflect.get(target, name)) }), at('lines'));
    await source.close();
    const lines = gunzipSync(readFileSync(at('lines/ledger.jsonl.gz'))).toString().trim().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(3);
    for (const line of lines) expect(shape('import-line').safeParse(JSON.parse(line)).error, line).toBeUndefined();
    asDocumented(['ledger', 'backup'], 0, JSON.parse(readFileSync(at('lines/as4-once-backup.json'), 'utf8')));
  });

  it('show, list, status, doctor, report, ledger, bypass, forget', async () => {
    await json(cli('show', id, '--json'));
    await json(cli('list', '--held', '--json'));
    await json(cli('status', '--json'));
    await json(cli('doctor', '--json'), 1);
    await json(cli('report', '--json'));
    await json(cli('report', '--shadow', '--json'));
    await json(cli('ledger', 'status', '--json'));
    await json(cli('ledger', 'backup', at('backup'), '--json'));
    await json(cli('bypass', 'status', '--json'), 1);
    await cli('bypass', 'on', '--for', '1m', '--reason', 'test');
    await json(cli('bypass', 'status', '--json'));
    await json(cli('status', '--json'), 1);
    await cli('bypass', 'off');
    await json(cli('forget', '--party', 'nobody', '--dry-run', '--json'));
  });

  it('verify, of a Receipt and of something else; the files of an evidence archive', async () => {
    await json(cli('verify', at('receipt.xml'), '--json'));
    await json(cli('verify', at('orders.edi'), '--json'), 1);
    expect((await cli('evidence', id, '-o', at('evidence.zip'))).code).toBe(0);
    mkdirSync(at('evidence'));
    await program('python3', ['-m', 'zipfile', '-e', at('evidence.zip'), at('evidence')], folder.path);
    const of = (name: string): unknown => JSON.parse(readFileSync(at(`evidence/${name}`), 'utf8'));
    expect(shape('evidenceHttp').safeParse(of('receipt-http.json')).error).toBeUndefined();
    expect(shape('verification').safeParse(of('verification.json')).error).toBeUndefined();
    expect(shape('records').safeParse(of('record.json')).error).toBeUndefined();
    held.add('evidenceHttp');
  });

  it('init', async () => {
    await json(cli('init', '--access-point', 'other', '--json'));
  });

  it('read, claim, settle --token and release --token', async () => {
    await json(cli('read', at('orders.edi'), '--config', at('front.yaml'), '--json'));
    await json(cli('read', at('receipt.xml'), '--json'));
    const { token } = await json<{ token: string }>(cli('claim', at('orders.edi'), '--json'));
    await cli('claim', at('orders.edi'), '--json');
    await json(cli('release', '--token', token, '--outcome', 'rejected', '--json'));
    const again = await json<{ token: string }>(cli('claim', at('orders.edi'), '--json'));
    await json(cli('settle', '--token', again.token, '--json'));
    for (const name of ['orders.edi', 'other.edi', 'broken.edi']) expect((await cli('claim', at(name), '--json')).stdout).not.toBe('');
  });

  it('nothing that is promised was left out', () => {
    expect(Object.keys(COMMAND_SCHEMAS).filter((name) => !held.has(name))).toEqual([]);
  });
});
