import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT, runCli, type Ran } from '../support/child.js';
import { after, compose, plain, receipt, reset, type SignalOptions } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { ENGINES, startEngine, type Engine } from '../front/engines.js';
import { startFront, stopFronts, type Front } from '../front/front-process.js';
import { freshId, gate, post, refersTo, signedMessage } from '../front/messages.js';

const shape = z.fromJSONSchema(
  JSON.parse(readFileSync(join(ROOT, 'schemas', 'records.schema.json'), 'utf8')) as Parameters<
    typeof z.fromJSONSchema
  >[0],
);
/** What a command printed with --json, if it has the shape that schemas/ promises. */
function asDocumented(stdout: string): unknown {
  const value: unknown = JSON.parse(stdout);
  expect(shape.safeParse(value).error).toBeUndefined();
  return value;
}

/** The way out of every held message, by the commands an operator has, while servers run on the same ledger. */
describe.each(ENGINES.slice(0, 2))("the operator's way out: %s", (engineName) => {
  const folder = tempDir('operator');
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  let written = 0;
  beforeAll(async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    front = await startFront({
      upstream: upstream.url,
      ...engine.settings,
      times: { wait: '20s' },
      partners: [{ match: { from: 'CAREFUL' }, name: 'careful', uncertain: 'hold' }],
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
    folder.remove();
  });
  const cli = (...args: string[]): Promise<Ran> => runCli([...args, '--config', front.configFile]);
  const sent = (id: string, from = 'POP000001') => post(front.url, signedMessage(id, { from }));
  const arrived = (id: string) => upstream.requests.filter(({ body }) => body.includes(id));
  /** A message whose attempt ended without an answer. */
  async function held(from = 'POP000001'): Promise<{ id: string; key: string }> {
    const id = freshId();
    upstream.next(reset('body'));
    expect((await sent(id, from)).status).toBe(502);
    const copy = await sent(id, from);
    expect([copy.status, copy.body.toString().split(':')[0]]).toEqual([503, 'HELD']);
    const { key } = await front.logged({ event: 'exchange', messageId: id });
    return { id, key: key as string };
  }
  /** A Receipt as the access point's own store keeps it. */
  function receiptFile(id: string, options: SignalOptions = {}): string {
    const request = arrived(id)[0]!;
    written += 1;
    const file = join(folder.path, `receipt-${written}.xml`);
    writeFileSync(file, compose(receipt(options), request).body);
    return file;
  }

  it('list and show: what is held, what came before, and the command that resolves it', async () => {
    const { id, key } = await held('CAREFUL');
    const listed = await cli('list', '--held');
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(id)]);
    expect(listed.stdout).toContain(`--key ${key}`);
    const shown = await cli('show', id);
    expect(shown.code).toBe(0);
    for (const line of [
      /^message +\S+@front\.test$/m,
      /^state +held: waits for an operator: as4-once settle --key/m,
      /^from +CAREFUL$/m,
      /^rule +careful, window 90d/m,
      /^copies +1 after the first/m,
      /^ {2}\d{4}-\d\d-\d\dT\S+Z {2}attempt 1 began on /m,
      /^ {2}\S+Z {2}attempt 1 uncertain \(reset\)$/m,
    ]) {
      expect(shown.stdout).toMatch(line);
    }
    const byKey = await cli('show', '--key', key, '--json');
    expect(asDocumented(byKey.stdout)).toMatchObject([
      { reference: id, state: 'held', key, verdict: { level: 'act' } },
    ]);
    expect((await cli('show', id, '--from', 'SOMEBODY')).code).toBe(1);
    const unknown = await cli('show', 'nobody@sent.this');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('NOT_FOUND')]);
  });

  it('settle: only with a Receipt for this message and this content; later copies get its very bytes', async () => {
    const { id } = await held();
    const another = await held();
    const reason = ['--reason', 'found in its message store'];
    expect(await cli('settle', id, '--receipt', receiptFile(another.id), ...reason)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('RECEIPT_FOREIGN'),
    });
    expect(await cli('settle', id, '--receipt', receiptFile(id, { digests: 'other' }), ...reason)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('digests'),
    });
    expect(await cli('settle', id, '--receipt', receiptFile(id, { error: {} }), ...reason)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('RECEIPT_FOREIGN'),
    });
    expect(await cli('settle', id, '--receipt', receiptFile(id))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--reason'),
    });
    expect((await sent(id)).status).toBe(503);

    const file = receiptFile(id, { messageId: `kept-${id}` });
    const settled = await cli('settle', id, '--receipt', file, ...reason);
    expect(settled).toMatchObject({ code: 0, stdout: 'settled: later copies get this Receipt\n' });
    const copy = await sent(id);
    expect([copy.status, copy.headers['as4-once-answer'], copy.body.equals(readFileSync(file))]).toEqual([
      200,
      'replay',
      true,
    ]);
    expect(arrived(id)).toHaveLength(1);
    expect(asDocumented((await cli('show', id, '--json')).stdout)).toMatchObject([
      { state: 'settled', reply: { receiptId: `kept-${id}` } },
    ]);
    const { stdout } = await cli('show', id);
    expect(stdout).toMatch(/^state +settled/m);
    expect(stdout).toMatch(new RegExp(`^receipt +kept-${id}$`, 'm'));
    expect(stdout).toMatch(/^ {2}\S+Z {2}settle by \S+@\S+: found in its message store$/m);
    // the same again is done already; another way out is none any more
    // told "settled" again, an operator could not see that somebody else had been there before
    expect(await cli('settle', id, '--receipt', file, ...reason)).toMatchObject({
      code: 0,
      stdout: 'settled already with this very Receipt: nothing was changed\n',
    });
    expect(await cli('release', id, ...reason)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NOT_ALLOWED'),
    });
  });

  it('release: the next copy is delivered once, marked, whatever policy says; and what comes of it counts', async () => {
    const { id } = await held('CAREFUL');
    const released = await cli('release', id, '--reason', 'not in the ERP', '--json');
    expect(asDocumented(released.stdout)).toMatchObject({
      reference: id,
      state: 'open',
      cleared: true,
      decisions: [{ what: 'release', reason: 'not in the ERP' }],
    });
    upstream.next(plain(500, 'text/html', 'broken again'));
    expect((await sent(id, 'CAREFUL')).status).toBe(502);
    expect((await sent(id, 'CAREFUL')).status).toBe(503);
    expect(arrived(id).map((request) => request.header('as4-once-copy'))).toEqual(['first', 'redelivery']);
    expect((await cli('release', id, '--reason', 'still not there')).code).toBe(0);
    const accepted = await sent(id, 'CAREFUL');
    expect([accepted.status, refersTo(accepted.body)]).toEqual([200, id]);
    expect(arrived(id)).toHaveLength(3);
  });

  it('uncertain without being held: listed, and settled or released just so', async () => {
    const id = freshId();
    upstream.next(plain(500, 'text/html', 'broken'));
    expect((await sent(id)).status).toBe(502);
    expect((await cli('list', '--uncertain')).stdout).toContain(id);
    expect(
      (await cli('settle', id, '--receipt', receiptFile(id, { digests: 'none' }), '--reason', 'it says so')).code,
    ).toBe(0);
    expect((await sent(id)).headers['as4-once-answer']).toBe('replay');
    expect((await cli('list', '--uncertain')).stdout).not.toContain(id);
  });

  it('a live lease refuses both, unless --force; a Receipt that comes all the same is proof', async () => {
    const id = freshId();
    const working = gate();
    const before = upstream.requests.length;
    upstream.next(after(working.opened, receipt({ messageId: `own-${id}` })));
    const first = sent(id);
    await upstream.arrived(before + 1);
    expect((await cli('list', '--in-flight')).stdout).toContain(id);
    expect(await cli('release', id, '--reason', 'impatient')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('LEASE_LIVE'),
    });
    expect(await cli('settle', id, '--receipt', receiptFile(id), '--reason', 'impatient')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('LEASE_LIVE'),
    });
    const waiting = sent(id);
    await front.metricIs('as4_once_waiting', 1);
    expect(
      (
        await cli(
          'settle',
          id,
          '--receipt',
          receiptFile(id, { messageId: `forced-${id}` }),
          '--reason',
          'its process is gone',
          '--force',
        )
      ).code,
    ).toBe(0);
    expect((await waiting).body.toString()).toContain(`forced-${id}`);
    working.open();
    // the first valid Receipt won: everybody has the same one
    expect((await first).body.equals((await waiting).body)).toBe(true);
    await front.logged({ event: 'twoReceipts', messageId: id });
  });

  it('one id of two senders: the command asks which, and takes --from', async () => {
    const id = freshId();
    upstream.next(reset('body'), reset('body'));
    await sent(id, 'ONE');
    await sent(id, 'TWO');
    expect(await cli('release', id, '--reason', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/2 records.*from ONE.*from TWO|2 records.*from TWO.*from ONE/),
    });
    expect((await cli('release', id, '--from', 'TWO', '--reason', 'x')).code).toBe(0);
    expect((await sent(id, 'TWO')).status).toBe(200);
    expect((await sent(id, 'ONE')).status).toBe(503);
  });

  it("what a sender wrote does not steer the operator's terminal", async () => {
    const id = `\u001b]0;owned\u0007${freshId()}`.replaceAll(/[\u0000-\u001f]/g, '\u009b');
    upstream.next(reset('body'));
    await sent(id);
    const { stdout } = await cli('list', '--uncertain');
    const held = await cli('list', '--held');
    expect(stdout + held.stdout).toContain('\\u009b');
    expect(stdout + held.stdout).not.toContain('\u009b');
  });
});

describe("the operator's commands, where the ledger is out of reach", () => {
  it('say so and end with 75', async () => {
    const engine = await startEngine('redis with ioredis');
    const folder = tempDir('operator-down');
    const file = join(folder.path, 'front.yaml');
    writeFileSync(
      file,
      JSON.stringify({
        role: 'front',
        listen: '127.0.0.1:0',
        upstream: 'http://127.0.0.1:1/as4',
        accessPoint: 'phase4',
        ledger: { redis: { url: engine.redis!.url, connectTimeout: '500ms' } },
      }),
    );
    await engine.redis!.stop();
    const { code, stderr } = await runCli(['list', '--held', '--config', file]);
    expect([code, stderr]).toEqual([75, expect.stringContaining('LEDGER_DOWN')]);
    await engine.close();
    folder.remove();
  });
});
