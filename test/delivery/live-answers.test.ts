import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Upstream } from '../../src/delivery/port.js';
import { as4Protocol } from '../../src/ebms/as4.js';
import type { Message } from '../../src/message.js';
import { LIMITS } from '../../src/limits.js';
import { openReply } from '../../src/receipt/stored-reply.js';
import { raw, reset } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { attempted, bodyOf, headerOf, stored, upstreamTo } from './attempt.js';

const shared = process.env['AS4_ONCE_SHARED'] ?? '../shared';
const live = join(shared, 'corpus', 'live');
const present = existsSync(join(live, 'expected.json'));

interface Expected {
  readonly contentType: string;
  readonly messageId: string;
  readonly response?: { readonly status: string; readonly refToMessageId: string | null; readonly messageId: string | null; readonly signal: string | null; readonly errorCode: string | null };
}
const expected = (present ? JSON.parse(readFileSync(join(live, 'expected.json'), 'utf8')) : {}) as Record<string, Expected>;
const names = present ? readdirSync(live).filter((name) => existsSync(join(live, name, 'request.mime')) && existsSync(join(live, name, 'response.http'))) : [];

/** phase4, Holodeck B2B and Oxalis-NG as they answered, byte for byte on the wire, each to its own recorded request. */
describe.skipIf(!present)('recorded answers of real access points (skipped without the shared corpus)', () => {
  let server: ScriptedUpstream;
  let upstream: Upstream;
  beforeAll(async () => {
    server = await startUpstream(reset('body'));
    upstream = upstreamTo(server.url);
  });
  afterAll(async () => {
    await upstream.close();
    await server.close();
  });

  async function answered(name: string, message: Message) {
    const response = readFileSync(join(live, name, 'response.http'));
    server.next(response.byteLength === 0 ? reset('body') : raw(response, 'end'));
    const body = stored(readFileSync(join(live, name, 'request.mime')));
    return await upstream.attempt({ ...attempted({ body }), message });
  }

  it('are there', () => {
    expect(names.length).toBeGreaterThan(20);
  });

  it.each(names)('%s is judged as its notes say', async (name) => {
    const entry = expected[name];
    if (entry === undefined) throw new Error(`${name} is not in expected.json`);
    const { response } = entry;
    const result = await answered(name, await messageOf(name, entry));
    const plain = readFileSync(join(live, name, 'response.xml'));
    if (response?.signal === 'Receipt') {
      expect(result).toMatchObject({ outcome: 'accepted', reason: 'receipt', reply: { status: 200 }, stored: { receiptId: response.messageId } });
      expect(result.stored?.signerSerial).toMatch(/^[0-9A-F]+$/);
      if (result.stored === undefined) throw new Error('nothing stored');
      expect(Buffer.from(openReply(result.stored)).equals(plain)).toBe(true);
    } else if (response?.signal === 'Error') {
      const known = response.errorCode === 'EBMS:4001';
      expect(result).toMatchObject({ outcome: 'rejected', reason: known ? 'knownUpstream' : 'error', counts: !known });
    } else if (readFileSync(join(live, name, 'response.http')).byteLength === 0) {
      expect(result).toMatchObject({ outcome: 'uncertain', reason: 'reset' });
    } else {
      expect(result).toMatchObject({ outcome: 'uncertain', reason: 'noSignal', code: 'UPSTREAM_UNCLEAR' });
    }
    if (response !== undefined && response.signal !== null) {
      expect((await bodyOf(result)).equals(plain)).toBe(true);
      expect(headerOf(result, 'content-encoding')).toBeUndefined();
    }
  });

  // Holodeck signs a Receipt for altered content under a known id (recorded): held against the first content it is flagged.
  it('the Receipt for altered content is not taken for one for the original', async () => {
    const entry = expected['holodeck-altered-original'];
    if (entry === undefined) throw new Error('not in expected.json');
    const result = await answered('holodeck-altered-payload-same-id', await messageOf('holodeck-altered-original', entry));
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'otherDigests', alert: 'otherDigests' });
  });

  it('each Receipt is for its own message only', async () => {
    const one = expected['phase4-a-peppol-10k'];
    if (one === undefined) throw new Error('not in expected.json');
    const result = await answered('phase4-b-peppol-1m', await messageOf('phase4-a-peppol-10k', one));
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'otherMessage', reply: { status: 502 } });
  });
});

async function messageOf(name: string, { contentType }: Expected): Promise<Message> {
  const reading = as4Protocol.open({ headers: [['Content-Type', contentType]], target: '/' }, LIMITS);
  await reading.push(readFileSync(join(live, name, 'request.mime')));
  const read = await reading.end();
  if (read.kind !== 'message') throw new Error(`${name} is no message`);
  return read.message;
}
