import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../front/front-process.js';
import { freshId, refersTo } from '../front/messages.js';
import { send, type Answer } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';
import { phase4Missing, recordFromPhase4, sendWithPhase4, startReceiver, type Receiver, type Recorded } from './phase4.js';
import { Page, Terminal, type Typed } from './printed-commands.js';

/** What the pages print: the front, phase4 behind it, the operators' listener. */
const PORTS = [8080, 8081, 9464];
const FRONT = 'http://127.0.0.1:8080/as4';
const ADMIN = 'http://127.0.0.1:9464';

const missing = phase4Missing() ?? (await takenPort());

/**
 * A new user's first weeks with phase4 as the access point, by the pages: every command that docs/operate.md, import.md,
 * evidence.md and operator.md print is typed as it stands there, and nothing else is.
 */
describe.skipIf(missing !== undefined)(`the pages, before phase4${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const folder = tempDir('pages');
  const at = (name: string): string => join(folder.path, name);
  const terminal = new Terminal(folder.path);
  const page = Object.fromEntries(
    (['operate', 'import', 'evidence', 'operator'] as const).map((name) => [name, new Page(`docs/${name}.md`)]),
  ) as Record<'operate' | 'import' | 'evidence' | 'operator', Page>;
  const messages = new Map<string, Recorded>();
  let phase4: Receiver;

  beforeAll(async () => {
    phase4 = await startReceiver({ dir: at('delivered'), port: 8081 });
  });
  afterAll(async () => {
    const { server } = terminal;
    if (server !== undefined) process.kill(server, 'SIGKILL');
    await phase4.stop();
    folder.remove();
  });

  /** The page's next command, which must be of that kind and end with that code. */
  async function typed(of: keyof typeof page, like: RegExp, code = 0): Promise<Typed> {
    const done = await terminal.type(page[of].next(like));
    expect({ command: done.command, code: done.code, stderr: done.stderr, stdout: done.stdout }).toMatchObject({ code });
    return done;
  }
  /** What the message's sender sends, the same bytes each time. */
  async function sent(id: string, url = FRONT): Promise<Answer> {
    const recorded = messages.get(id) ?? (await recordFromPhase4(id));
    messages.set(id, recorded);
    return await send(url, url === FRONT ? recorded : { ...recorded, headers: { ...recorded.headers, 'Accept-Encoding': 'identity' } });
  }
  const log = (): readonly Readonly<Record<string, unknown>>[] =>
    readFileSync(at('as4-once.log'), 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as Record<string, unknown>);
  const logged = (values: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> =>
    eventually(
      () => log().findLast((line) => Object.entries(values).every(([name, value]) => line[name] === value)),
      () => `${JSON.stringify(values)} in\n${readFileSync(at('as4-once.log'), 'utf8')}`,
    );
  const health = async (): Promise<{ status: string; warnings: { code: string }[] }> =>
    (await (await fetch(`${ADMIN}/healthz`)).json()) as { status: string; warnings: { code: string }[] };
  const up = (): Promise<unknown> => eventually(() => health().catch(() => undefined), () => 'the server to listen');
  const settled = (id: string): Promise<unknown> =>
    eventually(
      async () => ((await terminal.type(`as4-once show ${id} --config front.yaml`)).stdout.includes('settled:') ? true : undefined),
      () => `${id} to be settled`,
    );
  const ids = { shadow: freshId(), other: freshId(), bypassed: freshId(), gap: freshId(), certain: freshId() };

  it('day 1: init, check and serve; doctor and status find it well', async () => {
    const made = await typed('operate', /^as4-once init /);
    expect(made.stdout).toContain('front.yaml written');
    expect((await typed('operate', /^as4-once check /)).stdout).toContain('front.yaml is in order');
    await typed('operate', /^as4-once serve /);
    await up();
    const found = await typed('operate', /^as4-once doctor /);
    expect(found.stdout).not.toMatch(/^fail/m);
    expect(found.stdout).toMatch(/ok +access point/);
    await eventually(async () => ((await terminal.type('as4-once status --config front.yaml')).stdout.includes('server ') ? true : undefined), () => 'the server to report');
    expect((await typed('operate', /^as4-once status /)).stdout).toMatch(/server +\S+ \(pid \d+/);
  });

  it('shadow: phase4 answers for itself, and the report tells what eliminate would have done', async () => {
    const [first] = await sendWithPhase4(FRONT, ['--message-id', ids.other]);
    expect(first).toMatchObject({ result: 'SUCCESS', nrr: 'match' });
    expect(refersTo((await sent(ids.shadow)).body)).toBe(ids.shadow);
    await settled(ids.shadow);
    const copy = await sent(ids.shadow);
    expect(copy.headers['as4-once-answer']).toBeUndefined();
    expect(copy.body.toString()).toMatch(/duplicate/);
    await eventually(async () => ((await terminal.type('as4-once report --shadow --config front.yaml')).stdout.includes('messages') ? true : undefined), () => 'the counters to be written');
    await logged({ event: 'exchange', messageId: ids.shadow, would: 'settled' });
    const row = /^all +(\d+) +(\d+) +(\d+)/m;
    await eventually(async () => (row.exec((await terminal.type('as4-once report --shadow --config front.yaml')).stdout)?.[1] === '3' ? true : undefined), () => 'all three to be counted');
    const report = await typed('operate', /^as4-once report --shadow /);
    expect(row.exec(report.stdout)?.slice(1)).toEqual(['3', '2', '1']);
  });

  it('cut-over: the import, then eliminate, with a reload', async () => {
    const id = 'taken-before@example.org';
    const before = await sent(id, phase4.url);
    mkdirSync(at('receipts'));
    writeFileSync(at('receipts/abc.xml'), before.body);
    const firstSeen = new Date(Date.now() - 3_600_000).toISOString();
    writeFileSync(at('accepted.jsonl'), `${JSON.stringify({ messageId: id, from: 'POP000001', firstSeen, receipt: 'abc.xml' })}\n`);
    expect((await typed('import', /^as4-once import /)).stdout).toContain('would be written: 1 with their Receipt');
    expect((await typed('operate', /^as4-once import /)).stdout).toContain('Nothing was written');
    expect((await typed('operate', /^as4-once import .*--write/)).stdout).toContain('written: 1 with their Receipt');
    writeFileSync(at('front.yaml'), readFileSync(at('front.yaml'), 'utf8').replace('mode: shadow', 'mode: eliminate'));
    await typed('operate', /^as4-once check .*kill -HUP/);
    await logged({ event: 'reload' });
    const copy = await sent(id);
    expect([copy.headers['as4-once-answer'], copy.body.equals(before.body)]).toEqual(['replay', true]);
    const seen = await sent(ids.shadow);
    expect([seen.headers['as4-once-answer'], phase4.delivered(ids.shadow)]).toEqual(['replay', 1]);
  });

  it("a partner's storm: show says what to compare; the evidence is checked without as4-once", async () => {
    const id = '5c40387e-ee08@example.org';
    const answers: Answer[] = [];
    for (let i = 0; i < 8; i += 1) answers.push(await sent(id));
    expect([refersTo(answers[0]!.body), phase4.delivered(id)]).toEqual([id, 1]);
    for (const { body } of answers) expect(body.equals(answers[0]!.body)).toBe(true);
    await eventually(async () => ((await terminal.type(`as4-once show ${id} --config front.yaml`)).stdout.includes('7 copies') ? true : undefined), () => 'seven copies');
    expect((await typed('operate', /^as4-once show /)).stdout).toMatch(/7 copies in \d+ \w+ after a Receipt: the sender does not accept it\. Compare/);

    await typed('evidence', /^as4-once evidence /);
    await typed('evidence', /^unzip /);
    expect((await typed('evidence', /^sha256sum /)).stdout).not.toContain('FAILED');
    expect((await typed('evidence', /^openssl x509 .*-subject/)).stdout).toMatch(/CN\s?=\s?POP000002/);
    await typed('evidence', /^openssl x509 .*-pubkey/);
    expect((await typed('evidence', /^openssl dgst .*-verify/)).stdout).toBe('Verified OK\n');
    const [digest] = (await typed('evidence', /^openssl dgst .*base64/)).stdout.trim().split('\n');
    expect(readFileSync(at('evidence/signature/SignedInfo.xml'), 'utf8')).toContain(digest);
    expect(readFileSync(at('evidence/receipt.xml')).equals(answers[0]!.body)).toBe(true);
    expect((await typed('evidence', /^as4-once verify /)).stdout).toMatch(new RegExp(`^for message +${id}$`, 'm'));
    terminal.goHome();
  });

  it('a bypass: phase4 gets everything, and the log brings it into the ledger', async () => {
    await typed('operate', /^as4-once bypass on /);
    await logged({ event: 'bypass', on: true });
    const answer = await sent(ids.bypassed);
    expect(refersTo(answer.body)).toBe(ids.bypassed);
    await logged({ event: 'exchange', messageId: ids.bypassed, mode: 'bypass' });
    await typed('operate', /^as4-once bypass off /);
    await logged({ event: 'bypass', on: false });
    expect((await typed('operate', /^as4-once import as4-once\.log /)).stdout).toMatch(/ 1 {2}would be written/);
    expect((await typed('operate', /^as4-once import as4-once\.log .*--write/)).stdout).toMatch(/ 1 {2}written/);
  });

  it('held: phase4 is killed in the middle; one message is settled, the other released', async () => {
    const [there, notThere] = ['81be6f02-41d7@example.org', 'c2d94a17-90b3@example.org'];
    for (const id of [there, notThere]) messages.set(id, await recordFromPhase4(id));
    await phase4.stop();
    phase4 = await startReceiver({ dir: at('delivered'), port: 8081, flags: ['--slow', '20000'] });
    const cut = [there, notThere].map((id) => sent(id));
    await eventually(async () => (/^as4_once_under_way 2$/m.test(await (await fetch(`${ADMIN}/metrics`)).text()) ? true : undefined), () => 'both under way');
    // phase4 has both of them: their answer is what it is slow with
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await phase4.kill();
    expect((await Promise.all(cut)).map(({ status }) => status)).toEqual([502, 502]);
    phase4 = await startReceiver({ dir: at('delivered'), port: 8081 });
    for (const id of [there, notThere]) expect((await sent(id)).body.toString()).toMatch(/^HELD/);

    await typed('operator', /^export AS4_ONCE_CONFIG=/);
    expect((await typed('operator', /^as4-once list --held/)).stdout).toContain(there);
    expect((await typed('operator', /^as4-once show /)).stdout).toContain('held: waits for an operator');
    // as an operator finds it in the access point's own store
    writeFileSync(at('receipt.xml'), (await sent(there, phase4.url)).body);
    expect((await typed('operator', /^as4-once settle /)).stdout).toBe('settled: later copies get this Receipt\n');
    expect((await sent(there)).body.equals(readFileSync(at('receipt.xml')))).toBe(true);
    expect((await typed('operator', /^as4-once release /)).stdout).toBe('released: the next copy is delivered once, marked\n');
    expect(refersTo((await sent(notThere)).body)).toBe(notThere);
    await logged({ event: 'exchange', messageId: notThere, answer: 'redelivery' });
    expect(phase4.delivered(notThere)).toBe(1);
  });

  it('backup and restore: noticed, made good from the log, accepted', async () => {
    await typed('operate', /^as4-once ledger backup /);
    expect(refersTo((await sent(ids.gap)).body)).toBe(ids.gap);
    await seenByItsState();
    await typed('operate', /^kill .*tail --pid/);
    expect(terminal.server).toBeUndefined();
    await typed('operate', /^rm .*cp backups/);
    await typed('operate', /^as4-once serve /);
    await up();
    expect(await health()).toMatchObject({ status: 'down', warnings: [expect.objectContaining({ code: 'LEDGER_BEHIND' })] });
    expect((await typed('operate', /^as4-once ledger status /, 1)).stdout).toContain('1 settle fewer than it had');
    expect((await typed('operate', /^as4-once import as4-once\.log /)).stdout).toMatch(/ 1 {2}written/);
    await typed('operate', /^as4-once ledger accept /);
    await logged({ event: 'behind', behind: false });
    expect(await health()).toMatchObject({ status: 'ok' });
    await sent(ids.gap);
    expect(await logged({ event: 'exchange', messageId: ids.gap, answer: 'forwarded' })).toBeDefined();
    expect(refersTo((await sent(ids.certain)).body)).toBe(ids.certain);
    expect(await logged({ event: 'exchange', messageId: ids.certain })).toMatchObject({ answer: 'first' });
  });

  /** The sentinel has seen every settle, so that it misses one of them. */
  async function seenByItsState(): Promise<void> {
    const { stdout } = await terminal.type('as4-once ledger status --json --config front.yaml');
    const { settles } = JSON.parse(stdout) as { settles: number };
    const [name = ''] = readdirSync(at('as4-once-state')).filter((one) => one.startsWith('ledger-'));
    const seen = (): number => (JSON.parse(readFileSync(at(`as4-once-state/${name}`), 'utf8')) as { settles: number }).settles;
    await eventually(() => (seen() === settles ? true : undefined), () => `${settles} settles in ${name}`);
  }

  it('an upgrade, the auditor, and a request to be forgotten', async () => {
    expect((await typed('operate', /^as4-once ledger upgrade /)).stdout).toContain('newest of this release');
    await typed('operate', /^as4-once report .*--csv/);
    const [head = '', ...rows] = readFileSync(at('2026.csv'), 'utf8').trim().split('\r\n');
    expect([head.split(',').includes('arrived'), rows.length > 0]).toEqual([true, true]);
    await typed('operate', /^as4-once forget .*--dry-run/);
    await typed('operate', /^as4-once forget .*--reason/);
    expect(existsSync(at('as4-once-data/data.mdb'))).toBe(true);
  });

  it('no printed command was left out', () => {
    expect(Object.values(page).map(({ name, left }) => [name, left])).toEqual(Object.values(page).map(({ name }) => [name, []]));
  });
});

/** Why the pages cannot be followed on this machine: their ports are in use. */
async function takenPort(): Promise<string | undefined> {
  for (const port of PORTS) {
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (!free) return `port ${port} is in use`;
  }
  return undefined;
}
