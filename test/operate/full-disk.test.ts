import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFront, startFrontFrom, stopFronts, type Front } from '../front/front-process.js';
import { freshId, gate, message, post, refersTo } from '../front/messages.js';
import { after, plain, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { json, operator } from './operator.js';

const MIB = 1024 * 1024;
const folder = tempDir('full');
const disk = join(folder.path, 'disk');

const EB = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
const largeReceipt = (id: string): string => `<S:Envelope xmlns:S="http://www.w3.org/2003/05/soap-envelope" xmlns:eb="${EB}"><S:Header>`
  + `<eb:Messaging><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-11-30T00:00:00Z</eb:Timestamp><eb:MessageId>r@test</eb:MessageId><eb:RefToMessageId>${id}</eb:RefToMessageId></eb:MessageInfo>`
  + `<eb:Receipt><x xmlns="urn:test">${randomBytes(400_000).toString('base64')}</x></eb:Receipt></eb:SignalMessage></eb:Messaging></S:Header><S:Body/></S:Envelope>`;

/** A file system of 20 MB of its own; false where this user may not mount one. */
function mounted(): boolean {
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'as4-once-test', disk], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
const may = process.platform === 'linux' && mounted();

describe.skipIf(!may)(`a full disk of 20 MB${may ? '' : ' (skipped: mounting a tmpfs is not allowed here)'}`, () => {
  let upstream: ScriptedUpstream;
  let front: Front;
  let cli: ReturnType<typeof operator>;
  const settled = Array.from({ length: 5 }, freshId);
  const answers = new Map<string, Buffer>();
  const filler = join(disk, 'filler');
  const free = (): number => {
    const { bavail, bsize } = statfsSync(disk);
    return bavail * bsize;
  };
  /** Leaves so many bytes. */
  const fill = (left: number): void => writeFileSync(filler, Buffer.alloc(Math.max(0, free() - left)));

  beforeAll(async () => {
    upstream = await startUpstream(receipt());
    front = await startFront({ upstream: upstream.url, ledger: { embedded: join(disk, 'ledger') }, times: { lease: '400ms', renew: '100ms', settle: '300ms', wait: '500ms', ledgerOutage: '500ms' } });
    cli = operator(front.configFile);
    for (const id of settled) answers.set(id, (await post(front.url, message(id))).body);
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    execFileSync('umount', [disk]);
    folder.remove();
  });

  it('nearly full: new messages are asked to come again, nothing goes on, and copies are still answered', async () => {
    fill(1 * MIB);
    const before = upstream.requests.length;
    const id = freshId();
    // how much room there is is looked at once a second
    let refused = await post(front.url, message(id));
    for (let i = 0; refused.status === 200 && i < 200; i += 1) refused = await post(front.url, message(freshId()));
    expect([refused.status, refused.body.toString()]).toEqual([503, expect.stringMatching(/^LEDGER_FULL/)]);
    const delivered = upstream.requests.length;
    expect((await post(front.url, message(freshId()))).status).toBe(503);
    expect(upstream.requests.length).toBe(delivered);
    expect(delivered - before).toBeLessThan(200);
    for (const copied of settled) expect((await post(front.url, message(copied))).body.equals(answers.get(copied)!)).toBe(true);
    rmSync(filler);
  });

  // The process ended when a settle met a full disk: a failed commit rejected a promise inside LMDB that nobody could
  // listen to, beside the one that the settle waited for (its batching by event turn, which is off now).
  it('full under an attempt: the Receipt cannot be stored, so nobody gets it; afterwards the message goes on once more, marked', async () => {
    await accepting();
    const id = freshId();
    const working = gate();
    // large, so that it does not fit into pages that the ledger has to spare
    upstream.next(after(working.opened, plain(200, 'application/soap+xml', largeReceipt(id))));
    const before = upstream.requests.length;
    const sent = post(front.url, message(id));
    await upstream.arrived(before + 1);
    fillUp();
    working.open();
    const answer = await sent;
    expect(front.process.running).toBe(true);
    expect([answer.status, refersTo(answer.body)]).toEqual([503, undefined]);
    expect(readdirSync(join(disk, 'ledger/journal'))).toEqual([]);
    await front.kill();
    rmSync(filler);
    front = await startFrontFrom(front.configFile);
    await accepting();
    for (const copied of settled) expect((await post(front.url, message(copied))).body.equals(answers.get(copied)!)).toBe(true);
    const again = await post(front.url, message(id));
    expect([again.status, refersTo(again.body), upstream.requests.at(-1)?.header('as4-once-copy')]).toEqual([200, id, 'redelivery']);
    expect((await post(front.url, message(id))).headers['as4-once-answer']).toBe('replay');
    const { records } = await json<{ records: number }>(cli('ledger', 'status', '--json'));
    expect(records).toBeGreaterThan(settled.length);
  });

  it('a backup and an import that do not fit: absent, and to be finished later', async () => {
    fill(16 * 1024);
    const backup = await cli('ledger', 'backup', join(disk, 'backup'));
    expect(backup.code).toBe(1);
    expect(backup.stderr).toContain('there is none');
    expect(readdirSync(disk).filter((name) => name.startsWith('backup'))).toEqual([]);
    writeFileSync(join(folder.path, 'ids.jsonl'), Array.from({ length: 20_000 }, (_, i) => `${JSON.stringify({ messageId: `m${i}`, from: 'POP000123', firstSeen: Date.now() })}\n`).join(''));
    const full = await cli('import', join(folder.path, 'ids.jsonl'), '--write');
    expect(full.code).toBe(75);
    expect(full.stderr).toMatch(/LEDGER_FULL|LEDGER_DOWN/);
    rmSync(filler);
    const half = await json<Record<string, number>>(cli('import', join(folder.path, 'ids.jsonl'), '--json'));
    expect(half['fresh']! + half['standing']!).toBe(20_000);
    for (const copied of settled) expect((await post(front.url, message(copied))).body.equals(answers.get(copied)!)).toBe(true);
  });

  /** Until the front has noticed that there is room. */
  async function accepting(): Promise<void> {
    for (let i = 0; i < 300; i += 1) {
      if ((await post(front.url, message(freshId()))).status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('no room was noticed');
  }

  /** To the last byte: allocation is by page, and the ledger's own writes race with ours. */
  function fillUp(): void {
    for (let i = 0; free() > 0 && i < 100; i += 1) {
      try {
        writeFileSync(filler, Buffer.alloc(free()), { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
    expect(existsSync(filler)).toBe(true);
  }
});
