import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { compose, type Once } from '../../src/compose.js';
import { loadConfig } from '../../src/config/load.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import { as4Message, type MessageChoices } from '../support/messages.js';
import { ebmsError, plain, receipt, reset } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { send, type Answer } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';

/**
 * What went wrong: only an attempt freed the body it had delivered. The body of a replay, of a held or refused copy and
 * of a signal was finished, never used and never freed, so the spool's bounds filled up with nothing: after 64 MiB of
 * duplicates every message went by disk, after 8 GiB every message was answered 503 SPOOL_FULL, and each long body
 * cost a file handle for good. Seen as "386 KiB in memory" on a front that had nothing to do.
 */
describe('a stored body is freed when its exchange ends', () => {
  const folder = tempDir('kept');
  let upstream: ScriptedUpstream;
  let once: Once;
  let url: string;
  let close: () => Promise<void>;
  const LONG = 'x'.repeat(20_000);

  beforeAll(async () => {
    upstream = await startUpstream(receipt());
    const config = loadConfig({
      value: {
        role: 'front', listen: '127.0.0.1:0', upstream: upstream.url, accessPoint: 'other', ledger: { memory: true },
        journal: `${folder.path}/journal`, spool: `${folder.path}/spool`, state: `${folder.path}/state`, limits: { memoryPerBody: '8 KiB' }, defaults: { window: '90d' },
      },
    });
    once = compose({ config, ledger: memoryLedger() });
    const server = createServer((request, response) => once.handler(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`;
    close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await once.close({ graceMs: 100 });
    };
  });
  afterAll(async () => {
    await close();
    await upstream.close();
    folder.remove();
  });

  const message = (choices: MessageChoices): Promise<Answer> => send(url, as4Message(choices));
  const nothingKept = async (): Promise<void> => {
    expect((await once.load()).spool).toEqual({ memoryBytes: 0, diskBytes: 0 });
  };

  it.each([['short, in memory', undefined], ['long, on disk', LONG]])('%s: first, replay, mismatch, rejected, held, signal', async (_, payload) => {
    const more = { ...(payload === undefined ? {} : { payloads: [payload] }), from: payload === undefined ? 'SHORT' : 'LONG' };
    expect((await message({ ...more, messageId: 'm1@test' })).status).toBe(200);
    await nothingKept();
    expect((await message({ ...more, messageId: 'm1@test' })).headers['as4-once-answer']).toBe('replay');
    await nothingKept();
    await message({ ...more, messageId: 'm1@test', payloads: [`${payload ?? ''}other`] });
    await nothingKept();
    upstream.next(ebmsError());
    await message({ ...more, messageId: 'm2@test' });
    await nothingKept();
    upstream.next(reset('body'));
    expect((await message({ ...more, messageId: 'm3@test' })).status).toBe(502);
    expect((await message({ ...more, messageId: 'm3@test' })).status).toBe(503);
    await nothingKept();
  });

  it('a signal that passes: freed with its answer, which comes whole', async () => {
    const signal = `<S:Envelope xmlns:S="http://www.w3.org/2003/05/soap-envelope"><S:Header><eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/">
      <eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00Z</eb:Timestamp><eb:MessageId>s@test</eb:MessageId></eb:MessageInfo><eb:PullRequest mpc="urn:m"/></eb:SignalMessage>
      </eb:Messaging></S:Header><S:Body><!--${LONG}--></S:Body></S:Envelope>`;
    upstream.next(plain(200, 'text/plain', LONG));
    const answer = await send(url, { body: Buffer.from(signal), headers: { 'content-type': 'application/soap+xml' } });
    expect(answer.body.toString()).toBe(LONG);
    // the answer may be here before the file behind the request is closed
    await vi.waitFor(nothingKept, { timeout: 20_000 });
  });
});
