import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.js';
import type { Read, Reading } from '../../src/protocol.js';
import { inboundProtocol } from '../../src/security/inbound.js';
import type { InboundContent } from '../../src/security/open-message.js';
import { securityProfile } from '../../src/security/profiles.js';
import { VerifiedRoots, type VerifiedRoot } from '../../src/security/verified-roots.js';
import { as4Message } from '../support/messages.js';
import { ours, sender } from './forge.js';

/** A root part that was verified is not verified again: what that saves, and what it must never let through. */

const pmode = securityProfile('peppol', { anchors: [ours(sender).certificate] }, { name: 'test', encryption: 'optional' });

function endpoint(now: () => number = Date.now): { open: (contentType: string) => Reading; asked: () => number } {
  let asked = 0;
  const protocol = inboundProtocol({
    pmodeOf: () => {
      asked++;
      return pmode;
    },
    keys: [], maxPayload: 100_000, now,
    openPayload: () => {
      const chunks: Uint8Array[] = [];
      const body = { length: 0, stream: async function* all() { yield* chunks; }, dispose: async () => undefined };
      return { write: async (chunk) => void chunks.push(chunk), finish: async () => body, discard: async () => undefined };
    },
  });
  return { open: (contentType) => protocol.open({ headers: [['Content-Type', contentType]], target: '/' }, LIMITS), asked: () => asked };
}

async function read(reading: Reading, body: Buffer, skim = false): Promise<Read> {
  await reading.push(body);
  if (skim && reading.early?.kind === 'message') reading.skim?.();
  return await reading.end();
}

describe('a root part as it came before', () => {
  it('is not parsed and verified again for a copy that the ledger knows', async () => {
    const { open, asked } = endpoint();
    const { body, contentType } = as4Message({ signer: sender, compress: true });
    const first = await read(open(contentType), body);
    const again = await read(open(contentType), body, true);
    expect(asked()).toBe(1);
    if (first.kind !== 'message') throw new Error('no message');
    expect(again).toEqual({ kind: 'message', bundled: false, message: first.message });
  });

  it('is opened all the same where the copy has to be delivered', async () => {
    const { open, asked } = endpoint();
    const { body, contentType } = as4Message({ signer: sender, compress: true, payloads: ['<a/>'] });
    await read(open(contentType), body);
    const again = await read(open(contentType), body);
    expect(asked()).toBe(2);
    if (again.kind !== 'message') throw new Error('no message');
    expect((again.content as InboundContent).payloads).toHaveLength(1);
  });

  it('answers in the language of the first copy, and with its MessageId, when its parts break off', async () => {
    const { open } = endpoint();
    const { body, contentType, messageId } = as4Message({ signer: sender, soap: '1.1', compress: true });
    await read(open(contentType), body);
    const cut = open(contentType);
    await cut.push(body.subarray(0, -60));
    await expect(cut.end()).rejects.toMatchObject({ code: 'MIME_BROKEN' });
    expect(cut.answerIn).toEqual({ protocol: 'as4', soap: '1.1', messageId });
  });

  it('whose attachment is another one is refused like the first time', async () => {
    const { open } = endpoint();
    const { body, contentType } = as4Message({ signer: sender, payloads: ['<amount>1</amount>'] });
    await read(open(contentType), body);
    const forged = Buffer.from(body.toString('latin1').replace('<amount>1<', '<amount>9<'), 'latin1');
    await expect(read(open(contentType), forged)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
  });

  it('is verified again where one bit of it differs', async () => {
    const { open } = endpoint();
    const { body, contentType } = as4Message({ signer: sender });
    await read(open(contentType), body);
    const changed = Buffer.from(body.toString('latin1').replace('>9915:c4<', '>9915:c5<'), 'latin1');
    await expect(read(open(contentType), changed, true)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
  });

  it('is worth nothing any more when a certificate has ended', async () => {
    let now = Date.now();
    const { open } = endpoint(() => now);
    const { body, contentType } = as4Message({ signer: sender });
    await read(open(contentType), body);
    now = Date.parse(sender.certificate.validTo) + 1_000;
    await expect(read(open(contentType), body, true)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
  });

  it('that was refused is never remembered', async () => {
    const { open, asked } = endpoint();
    const { body, contentType } = as4Message();
    for (let i = 1; i <= 2; i++) {
      await expect(read(open(contentType), body)).rejects.toMatchObject({ code: 'UNSIGNED' });
      expect(asked()).toBe(i);
    }
  });
});

describe('what is remembered', () => {
  const root: VerifiedRoot = {
    early: { kind: 'message', bundled: false, message: { protocol: 'as4', reference: 'a', facts: { from: [], to: [] }, signed: true, fingerprint: 'signed:a' } },
    answerIn: { protocol: 'as4' }, verified: 100, until: 200,
  };

  it('ends with its certificates, and with a clock that is set back', () => {
    const roots = new VerifiedRoots();
    roots.add('a', root, 10);
    expect([99, 100, 200, 201].map((now) => roots.find('a', now) !== undefined)).toEqual([false, true, true, false]);
  });

  it('is bounded in bytes; the oldest goes first, and nothing is counted twice', () => {
    const roots = new VerifiedRoots();
    const MIB = 1024 * 1024;
    for (const name of ['a', 'b', 'c', 'd']) roots.add(name, root, 2 * MIB);
    roots.add('a', root, 2 * MIB);
    expect(['a', 'b', 'c', 'd'].every((name) => roots.find(name, 150) !== undefined)).toBe(true);
    roots.add('e', root, 2 * MIB);
    expect(['a', 'b', 'c', 'd', 'e'].filter((name) => roots.find(name, 150) === undefined)).toEqual(['b']);
  });

  it('is another root where the part names another character set', () => {
    expect(VerifiedRoots.nameOf(Buffer.from('x'), 'utf-8')).not.toBe(VerifiedRoots.nameOf(Buffer.from('x'), undefined));
  });
});
