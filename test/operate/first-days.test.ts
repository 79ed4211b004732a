import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startFrontFrom, stopFronts, type Front } from '../front/front-process.js';
import { freshId, message, post, refersTo, signedMessage } from '../front/messages.js';
import { tempDir } from '../support/temp-dir.js';
import { hasProgram, json, operator, program, startNaive } from './operator.js';

/**
 * An operator's first weeks, command by command as the documentation prints them: a configuration, shadow, its report,
 * the import, elimination, a partner's storm, evidence, a restore. One story: each step stands on the one before.
 */
describe('from init to a restore', () => {
  const home = tempDir('operate');
  const configFile = join(home.path, 'front.yaml');
  const cli = operator(configFile);
  const file = (name: string): string => join(home.path, name);
  const ids = { first: freshId(), copied: freshId(), mismatched: freshId(), elsewhere: freshId(), unreceipted: freshId(), stormy: freshId(), gap: freshId() };
  let accessPoint: Awaited<ReturnType<typeof startNaive>>;
  let front: Front;
  let receipt: Buffer;

  beforeAll(async () => {
    accessPoint = await startNaive(file('deliveries'));
  });
  afterAll(async () => {
    await stopFronts();
    await accessPoint.process.kill();
    home.remove();
  });

  const edit = (change: (text: string) => string): void => writeFileSync(configFile, change(readFileSync(configFile, 'utf8')));
  const start = async (): Promise<void> => {
    front = await startFrontFrom(configFile);
  };
  /** Everything the front has logged, over its restarts. */
  const keepLog = (): void => writeFileSync(file('as4-once.log'), front.process.stdout(), { flag: 'a' });
  const deliveries = (): number => readdirSync(file('deliveries')).filter((name) => !name.startsWith('.')).length;

  it('init writes a configuration that check finds in order, and never overwrites one', async () => {
    const made = await cli('init', '--access-point', 'phase4', '--upstream', accessPoint.url, '--listen', '127.0.0.1:0', '-o', configFile);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect((await cli('init', '--access-point', 'phase4', '-o', configFile)).code).toBe(2);
    edit((text) => text.replace('listen: 127.0.0.1:9464', 'listen: 127.0.0.1:0'));
    expect((await cli('check', '--config', configFile)).code).toBe(0);
  });

  it('shadow: everything goes on unmarked, and the report tells what eliminate would have done', async () => {
    await start();
    const send = async (id: string, change = {}) => await post(front.url, message(id, change));
    const answer = await send(ids.first);
    expect([answer.status, refersTo(answer.body)]).toEqual([200, ids.first]);
    for (let i = 0; i < 3; i += 1) {
      await send(ids.copied);
      await settled(ids.copied);
    }
    for (const content of ['one', 'two']) {
      await post(front.url, signedMessage(ids.mismatched, { payloads: [content] }));
      await settled(ids.mismatched);
    }
    await post(front.url, { body: Buffer.from('<broken'), headers: { 'content-type': 'application/soap+xml' } });
    await front.stop();
    keepLog();
    const { shadow } = await json<{ shadow: Record<string, number>[] }>(cli('report', '--shadow', '--json'));
    expect(shadow[0]).toMatchObject({ messages: 7, first: 3, duplicates: 2, mismatches: 1, refusals: 1, unknown: 0 });
    const text = await cli('report', '--shadow');
    expect(text.stdout).toContain('copies would have been answered with the first Receipt');
  });

  /**
   * Shadow holds nobody up: it answers after a second although the Receipt is still on its way to the ledger. On a disk
   * that was busy the next copy then met the first one in work, and was counted as a duplicate, not as a mismatch.
   */
  async function settled(id: string): Promise<void> {
    const state = async (): Promise<string> => {
      const { code, stdout } = await cli('show', id, '--json');
      return code === 0 ? (JSON.parse(stdout) as { state: string }[])[0]!.state : 'absent';
    };
    await eventually(async () => ((await state()) === 'settled' ? true : undefined), () => `${id} to be settled`);
  }

  it('import: a dry run first; with a Receipt it is replayed, without one it is known', async () => {
    receipt = await fetchReceipt(ids.elsewhere);
    mkdirSync(file('receipts'));
    writeFileSync(file('receipts/elsewhere.xml'), receipt);
    const firstSeen = new Date(Date.now() - 3_600_000).toISOString();
    const lines = [
      { messageId: ids.elsewhere, from: 'POP000001', firstSeen, receipt: 'elsewhere.xml' },
      { messageId: ids.unreceipted, from: 'POP000001', firstSeen: Date.now() - 60_000 },
      { messageId: ids.copied, from: 'POP000001', firstSeen },
      { messageId: 'old@example.org', from: 'POP000001', firstSeen: '2020-01-01' },
      { messageId: 'foreign@example.org', from: 'POP000001', firstSeen, receipt: 'elsewhere.xml' },
      { messageId: 'outside@example.org', from: 'POP000001', firstSeen, receipt: '../front.yaml' },
      { from: 'POP000001', firstSeen },
    ];
    writeFileSync(file('accepted.jsonl'), `${lines.map((line) => JSON.stringify(line)).join('\n')}\nnot json\n`);
    const expected = { lines: 8, fresh: 2, withReceipt: 1, standing: 1, expired: 1, bad: 4 };
    const dry = await json<Record<string, unknown>>(cli('import', file('accepted.jsonl'), '--receipts', file('receipts'), '--json'), 1);
    expect(dry).toMatchObject({ ...expected, written: false });
    expect((await cli('show', ids.unreceipted)).code).toBe(1);
    const written = await json<{ problems: { why: string }[] }>(cli('import', file('accepted.jsonl'), '--receipts', file('receipts'), '--write', '--json'), 1);
    expect(written).toMatchObject({ ...expected, written: true, assumed: [{ party: 'POP000001', why: 'as the ledger has seen it' }] });
    expect(written.problems.map(({ why }) => why).join('\n')).toMatch(/receipt is for[\s\S]*outside of[\s\S]*messageId is missing[\s\S]*not JSON/);
    const again = await json<Record<string, unknown>>(cli('import', file('accepted.jsonl'), '--receipts', file('receipts'), '--write', '--json'), 1);
    expect(again).toMatchObject({ fresh: 0, standing: 3 });
  });

  /** What another gateway got for that message before: a Receipt the access point signed. */
  async function fetchReceipt(id: string): Promise<Buffer> {
    const { body } = await post(accessPoint.url, message(id));
    expect(refersTo(body)).toBe(id);
    return body;
  }

  it('eliminate: what was seen in shadow and what was imported is answered, not delivered again', async () => {
    edit((text) => text.replace('mode: shadow', 'mode: eliminate'));
    await start();
    const before = deliveries();
    const copy = await post(front.url, message(ids.copied));
    expect([copy.status, refersTo(copy.body), copy.headers['as4-once-answer']]).toEqual([200, ids.copied, 'replay']);
    const imported = await post(front.url, message(ids.elsewhere));
    expect(imported.body.equals(receipt)).toBe(true);
    expect(deliveries()).toBe(before);
    await post(front.url, message(ids.unreceipted));
    expect(deliveries()).toBe(before + 1);
    expect(await front.logged({ event: 'exchange', messageId: ids.unreceipted })).toMatchObject({ answer: 'forwarded' });
  });

  it('a storm: show says what to compare', async () => {
    for (let i = 0; i < 8; i += 1) await post(front.url, message(ids.stormy));
    const shown = await eventually(async () => {
      const [record] = await json<{ copies: number; verdict: { level: string; text: string } }[]>(cli('show', ids.stormy, '--json'));
      return record?.copies === 7 ? record : undefined;
    }, () => '7 copies in the ledger');
    expect(shown.verdict.level).toBe('look');
    expect(shown.verdict.text).toMatch(/^7 copies in \d+ s after a Receipt: the sender does not accept it\. Compare its view of signer serial [0-9a-f]+/i);
    expect((await cli('show', ids.stormy)).stdout).toContain('does not accept it');
  });

  it('status and doctor look at the running server', async () => {
    const status = await eventually(async () => {
      const { code, stdout } = await cli('status', '--json');
      const found = JSON.parse(stdout) as { nodes: { sameConfig: boolean; silent: boolean; ledgerMs?: number }[]; configDigest: string };
      return code === 0 && found.nodes.length === 1 ? found : undefined;
    }, () => 'the server to report');
    expect(status.nodes[0]).toMatchObject({ sameConfig: true, silent: false, role: 'front' });
    const findings = await json<{ what: string; level: string; text: string }[]>(cli('doctor', '--config', configFile, '--json'));
    const levels = Object.fromEntries(findings.map(({ what, level }) => [what, level]));
    expect(levels).toMatchObject({ ledger: 'ok', store: expect.any(String), clock: 'ok', servers: 'ok', messages: 'ok', 'access point': 'ok', journal: 'ok', receipts: 'ok' });
    expect(findings.find(({ what }) => what === 'receipts')?.text).toMatch(/^[1-9]\d* of [1-9]\d* stored replies looked at verify$/);
    edit((text) => `${text}\n`.replace('window: 90d', 'window: 91d'));
    expect((await cli('status')).stdout).toContain('another configuration');
    edit((text) => text.replace('window: 91d', 'window: 90d'));
  });

  it('evidence: one archive that unzip, sha256sum and openssl accept', async () => {
    writeFileSync(file('now.log'), front.process.stdout());
    const archive = file('evidence.zip');
    const made = await cli('evidence', ids.stormy, '-o', archive, '--log', file('now.log'));
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect((await cli('evidence', ids.stormy, '-o', archive)).code).toBe(2);
    const out = file('evidence');
    mkdirSync(out);
    await program('python3', ['-m', 'zipfile', '-t', archive], out);
    if (await hasProgram('unzip')) await program('unzip', ['-tq', archive], out);
    await program('python3', ['-m', 'zipfile', '-e', archive, out], out);
    expect(await program('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], out)).toBe('');
    const replay = await post(front.url, message(ids.stormy));
    expect(readFileSync(join(out, 'receipt.xml')).equals(replay.body)).toBe(true);
    const key = await program('openssl', ['x509', '-in', 'signature/signer.pem', '-noout', '-pubkey'], out);
    writeFileSync(join(out, 'key.pem'), key);
    const hash = readFileSync(join(out, 'signature/hash.txt'), 'utf8').trim();
    const verify = ['dgst', `-${hash}`, '-verify', 'key.pem', '-signature', 'signature/value.bin', 'signature/SignedInfo.xml'];
    expect(await program('openssl', verify, out)).toContain('Verified OK');
    const digests = readFileSync(join(out, 'signature/digests.txt'), 'utf8').trim().split('\n').map((line) => line.split('  '));
    expect(digests.map(([, , name = '']) => name).toSorted()).toEqual(['signature/Body.xml', 'signature/Messaging.xml']);
    const signedInfo = readFileSync(join(out, 'signature/SignedInfo.xml'), 'utf8');
    for (const [, digest = '', name = '', uri = ''] of digests) {
      expect(signedInfo).toContain(`URI="${uri}"`);
      expect(signedInfo).toContain(digest);
      const told = await program('sh', ['-c', `openssl dgst -sha256 -binary ${name} | base64`], out);
      expect(told.trim()).toBe(digest);
    }
    const lines = readFileSync(join(out, 'log.jsonl'), 'utf8').trim().split('\n');
    expect(lines.filter((line) => line.includes('"event":"exchange"'))).toHaveLength(8);
    expect(JSON.parse(readFileSync(join(out, 'verification.json'), 'utf8'))).toMatchObject({ ok: true, signed: { refToMessageId: ids.stormy } });
    expect(await json<object>(cli('verify', join(out, 'receipt.xml'), '--json'))).toMatchObject({ ok: true });
    writeFileSync(file('forged.xml'), replay.body.toString('latin1').replace(ids.stormy, freshId()), 'latin1');
    expect((await cli('verify', file('forged.xml'))).code).toBe(1);
  });

  it('backup while it runs; a restore is noticed, marked, and over when an operator accepts it', async () => {
    expect(await cli('ledger', 'backup', file('backup'))).toMatchObject({ code: 0, stderr: '' });
    expect((await cli('ledger', 'backup', file('backup'))).code).toBe(2);
    await post(front.url, message(ids.gap));
    await settlesSeen();
    await front.stop();
    keepLog();
    const before = deliveries();
    const ledger = file('as4-once-data');
    for (const name of readdirSync(ledger)) if (name.endsWith('.mdb')) rmSync(join(ledger, name));
    copyFileSync(file('backup/data.mdb'), join(ledger, 'data.mdb'));
    await start();
    const health = await (await fetch(`${front.admin}/healthz`)).json() as { status: string; warnings: { code: string }[] };
    expect(health).toMatchObject({ status: 'down', warnings: expect.arrayContaining([expect.objectContaining({ code: 'LEDGER_BEHIND' })]) });
    expect(await cli('ledger', 'status')).toMatchObject({ code: 1, stdout: expect.stringContaining('1 settle fewer than it had') });
    // a copy that stands is answered as ever; one from the gap goes on marked, and is named
    expect((await post(front.url, message(ids.copied))).headers['as4-once-answer']).toBe('replay');
    await front.stop();
    const rebuilt = await json<Record<string, number>>(cli('import', file('as4-once.log'), '--write', '--json'));
    expect(rebuilt).toMatchObject({ fresh: 1, bad: 0 });
    await start();
    await post(front.url, message(ids.gap));
    expect(await front.logged({ event: 'exchange', messageId: ids.gap })).toMatchObject({ answer: 'forwarded' });
    const unheardOf = freshId();
    await post(front.url, message(unheardOf));
    expect(await front.logged({ event: 'exchange', messageId: unheardOf })).toMatchObject({ answer: 'redelivery' });
    expect(await front.logged({ event: 'gap', messageId: unheardOf })).toBeDefined();
    expect(deliveries()).toBe(before + 2);

    expect((await cli('ledger', 'accept')).code).toBe(2);
    expect((await cli('ledger', 'accept', '--reason', 'restored monday, log imported')).code).toBe(0);
    await front.logged({ event: 'behind', behind: false });
    expect(await (await fetch(`${front.admin}/healthz`)).json()).toMatchObject({ status: 'ok' });
    expect((await cli('ledger', 'status')).code).toBe(0);
    const certain = freshId();
    await post(front.url, message(certain));
    expect(await front.logged({ event: 'exchange', messageId: certain })).toMatchObject({ answer: 'first' });
  });

  /** The state file knows of every settle. */
  async function settlesSeen(): Promise<void> {
    const { settles } = await json<{ settles: number }>(cli('ledger', 'status', '--json'));
    const state = file('as4-once-state');
    const [name = ''] = readdirSync(state).filter((one) => one.startsWith('ledger-'));
    await eventually(() => ((JSON.parse(readFileSync(join(state, name), 'utf8')) as { settles: number }).settles === settles ? true : undefined), () => `${settles} settles in ${name}`);
  }

  it('the report reconciles: every message that arrived is in exactly one column', async () => {
    await front.stop();
    const { summary } = await json<{ summary: { arrived: number; unanswered: number; answers: Record<string, number> }[] }>(cli('report', '--json'));
    const [all] = summary;
    expect(all!.unanswered).toBe(0);
    expect(Object.values(all!.answers).reduce((a, b) => a + b, 0)).toBe(all!.arrived);
    const { stdout } = await cli('report', '--csv', '--from', '2d');
    const [head = '', ...rows] = stdout.trim().split('\r\n');
    const columns = head.split(',');
    for (const row of rows) {
      const cells = row.split(',');
      const number = (name: string): number => Number(cells[columns.indexOf(name)]);
      const answered = columns.slice(3, -1).reduce((sum, name) => sum + number(name), 0);
      expect(number('arrived')).toBe(answered + number('unanswered'));
    }
    expect(rows.some((row) => row.split(',')[1] === '*')).toBe(true);
  });

  it('forget blanks a party and keeps recognising its copies', async () => {
    const dry = await json<{ found: number; blanked: number }>(cli('forget', '--party', 'POP000001', '--dry-run', '--json'));
    expect(dry.found).toBeGreaterThan(5);
    expect(dry.blanked).toBe(0);
    const done = await json<{ found: number; blanked: number }>(cli('forget', '--party', 'POP000001', '--reason', 'request of the partner', '--json'));
    expect(done.blanked).toBe(dry.found);
    expect((await cli('show', ids.copied)).stdout).not.toContain('POP000001');
    expect(await json<object>(cli('forget', '--party', 'POP000001', '--reason', 'again', '--json'))).toMatchObject({ found: 0 });
    await start();
    const copy = await post(front.url, message(ids.copied));
    expect([refersTo(copy.body), copy.headers['as4-once-answer']]).toEqual([ids.copied, 'replay']);
    expect(existsSync(file('as4-once-data'))).toBe(true);
  });
});
