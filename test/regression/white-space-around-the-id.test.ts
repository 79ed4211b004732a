// A retry whose header was pretty-printed came as ` \n ID\n `: it was taken for another id and delivered a second time, and
// the access point's Receipt, which named the id without the white space, was called one for another message (502, held).
import { expect, it } from 'vitest';
import { judge } from '../../src/delivery/outcome.js';
import { accessPoint } from '../../src/delivery/access-points.js';
import { readAnswer } from '../../src/ebms/answer.js';
import { as4Protocol } from '../../src/ebms/as4.js';
import { LIMITS } from '../../src/limits.js';

const envelope = (id: string): string =>
  `<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope" xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><S12:Header><eb:Messaging><eb:UserMessage><eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00Z</eb:Timestamp><eb:MessageId>${id}</eb:MessageId></eb:MessageInfo></eb:UserMessage></eb:Messaging></S12:Header><S12:Body/></S12:Envelope>`;

async function referenceOf(id: string): Promise<string> {
  const reading = as4Protocol.open({ headers: [['Content-Type', 'application/soap+xml']], target: '/' }, LIMITS);
  await reading.push(Buffer.from(envelope(id)));
  const read = await reading.end();
  return read.kind === 'message' ? read.message.reference : '';
}

it('white space around the id is layout; inside, every character counts', async () => {
  expect(await referenceOf('\n   m 1@x\n  ')).toBe('m 1@x');
  expect(await referenceOf('m  1@x')).toBe('m  1@x');
  expect(await referenceOf('M 1@x')).toBe('M 1@x');
});

// A no-break space is not white space of XML: the key kept it and the comparison took it off, so that an id which ends in one
// had every Receipt of its own called one for another message, and was held.
it.each([['m1', 'm1'], ['m1', '\n  m1\n '], ['m1\u00a0', 'm1\u00a0'], ['\u2003m1', ' \u2003m1\n']])('%j is accepted by a Receipt for %j', async (id, ref) => {
  expect(await referenceOf(id)).toBe(id);
  const body = Buffer.from(`<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope" xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><S12:Header><eb:Messaging><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00Z</eb:Timestamp><eb:MessageId>r1</eb:MessageId><eb:RefToMessageId>${ref}</eb:RefToMessageId></eb:MessageInfo><eb:Receipt><x xmlns="urn:x"/></eb:Receipt></eb:SignalMessage></eb:Messaging></S12:Header><S12:Body/></S12:Envelope>`);
  const what = { kind: 'answer' as const, status: 200, contentType: 'application/soap+xml', body, envelope: readAnswer('application/soap+xml', body, LIMITS), tooLarge: false };
  const verdict = judge(what, {
    messageId: id, fingerprint: 'plain:x', before: { uncertain: false, rejected: false },
    rule: { uncertain: 'auto', upstreamDuplicate: 'pass', replyPattern: 'response' }, accessPoint: accessPoint('other'),
  });
  expect(verdict).toMatchObject({ outcome: 'accepted', receiptId: 'r1' });
});
