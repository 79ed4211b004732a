import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswer } from '../../conformance/as4/answer.js';
import { verifyEnvelope } from '../../conformance/as4/verify.js';
import { sendRaw } from '../../conformance/wire/send.js';
import { startNode } from '../support/child.js';
import { as4Message, identity, type TestMessage } from '../support/messages.js';
import type { OwnedProcess } from '../support/owned-process.js';
import { send } from '../support/send.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

let folder: TempDir;
let child: OwnedProcess;
let url: string;

async function start(...args: string[]): Promise<void> {
  child = await startNode('dist/demo/sample-access-point.js', ['--port', '0', '--deliveries', folder.path, ...args]);
  url = (await child.waitFor(/listening on (\S+)/))[1] as string;
}

beforeEach(() => {
  folder = tempDir('sample');
});
afterEach(async () => {
  await child.stop();
  folder.remove();
});

const post = async (message: TestMessage): Promise<ReturnType<typeof readAnswer>> =>
  readAnswer(await sendRaw(new URL(url), { contentType: message.contentType, body: message.body, answerMs: 20_000 }));

describe('the sample access point', () => {
  it('signs a Receipt that a stranger verifies and that holds the sender\'s own digests', async () => {
    await start();
    for (const soap of ['1.1', '1.2'] as const) {
      const message = as4Message({ signer: identity(), soap, compress: true });
      const answer = await post(message);
      expect(answer.receipt?.refToMessageId).toBe(message.messageId);
      expect(answer.receipt?.references?.map((r) => [r.uri, r.digest])).toEqual(message.references.map((r) => [r.uri, r.digest]));
      expect(() => verifyEnvelope(answer.envelope ?? Buffer.alloc(0))).not.toThrow();
    }
  });

  it('has no duplicate detection: two copies are two deliveries and two Receipts', async () => {
    await start();
    const message = as4Message({ signer: identity(), payloads: ['<a/>'], compress: true });
    const [first, second] = [await post(message), await post(message)];
    expect(second.receipt?.messageId).not.toBe(first.receipt?.messageId);
    const names = readdirSync(folder.path);
    expect(names).toEqual([`0001-${message.messageId}.xml`, `0002-${message.messageId}.xml`]);
    for (const name of names) expect(readFileSync(join(folder.path, name), 'utf8')).toBe('<a/>');
  });

  it('keeps counting after a restart, and makes several payloads one entry', async () => {
    await start();
    await post(as4Message({ messageId: 'a/../b@test', payloads: ['<a/>', Buffer.from([0, 1, 2])] }));
    await child.stop();
    await start();
    await post(as4Message({ messageId: 'c@test', bare: true }));
    expect(readdirSync(folder.path)).toEqual(['0001-a_.._b@test', '0002-c@test']);
    expect(readdirSync(join(folder.path, '0001-a_.._b@test'))).toEqual(['1.xml', '2.bin']);
  });

  it('refuses every first attempt where it is told to, and delivers nothing then', async () => {
    await start('--fail-first');
    const message = as4Message();
    const refused = await post(message);
    expect(refused.errors[0]).toMatchObject({ code: 'EBMS:0202', refToMessageId: message.messageId });
    expect(readdirSync(folder.path)).toEqual([]);
    expect((await post(message)).receipt?.refToMessageId).toBe(message.messageId);
    expect(readdirSync(folder.path)).toHaveLength(1);
  });

  it('answers what is no message with an ebMS Error, and delivers nothing', async () => {
    await start();
    const answer = await send(url, { body: Buffer.from('no message') });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toContain('errorCode="EBMS:0009"');
    expect((await send(url, { body: Buffer.alloc(0) }, { method: 'GET' })).status).toBe(405);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('finishes what is in flight when it is asked to end', async () => {
    await start('--slow', '300');
    const message = as4Message();
    const answer = post(message);
    await child.waitFor(/delivered/);
    const ended = child.stop();
    expect((await answer).receipt?.refToMessageId).toBe(message.messageId);
    expect(await ended).toEqual({ code: 0, signal: null });
  });
});
