import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../conformance/as4/answer.js';
import { As4OnceError } from '../../src/index.js';
import { hasSchemas, invalidity, libxml2Verdict } from '../security/oracle.js';
import { as4Message, type MessageChoices } from '../support/messages.js';
import { plain } from './bombs.js';
import { honest, neighbour, sender, serveEndpoint, signedByUs, stranger, type Served } from './served.js';

/**
 * Everything that the endpoint says over HTTP, held against the schemas of SOAP 1.2 and 1.1, WS-Security, XML Signature,
 * ebMS 3.0 and ebBP signals, and against libxml2's idea of its signature.
 */

let served: Served;
beforeAll(async () => {
  served = await serveEndpoint({
    endpoint: { profile: 'custom', partyId: 'POP000002', receivers: ['9915:c4'], maxPayload: '1MB' },
    security: { encryption: 'optional', commonName: true }, defaults: { resend: 'off' },
    partners: [{ name: 'lax', match: { from: ['POP000003'] }, security: { signature: 'optional', commonName: false } }],
  }, (message) => {
    if (message.action === 'refuse') throw new As4OnceError('DELIVERY_FAILED', 'not for "us" & <nobody>');
  });
});
afterAll(async () => {
  await served.close();
});

function judged(answer: Answer, soap: '1.1' | '1.2'): void {
  const envelope = answer.envelope ?? Buffer.alloc(0);
  expect(answer.soap).toBe(soap);
  expect(answer.contentType).toMatch(soap === '1.2' ? /^application\/soap\+xml/ : /^text\/xml/);
  expect(invalidity(envelope)).toBeUndefined();
  expect(libxml2Verdict(envelope)).toBeUndefined();
  signedByUs(answer);
}

type Build = (choices: MessageChoices) => { readonly body: Buffer; readonly contentType: string };
const CORE = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
const shaped = (shape: (xml: string) => string, more: MessageChoices = {}): Build => ({ messageId, soap }) =>
  as4Message({ signer: sender, compress: true, payloads: ['<a/>'], ...(messageId === undefined ? {} : { messageId }), ...more, plan: { spelling: { shape, ...(soap === undefined ? {} : { soap }) } } });
const sent = (more: MessageChoices = {}): Build => (choices) => as4Message({ signer: sender, compress: true, payloads: ['<a/>'], ...choices, ...more });
const pull = (xml: string): string => xml.replace(/<eb:UserMessage[^]*<\/eb:UserMessage>/,
  '<eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-11-30T00:00:00Z</eb:Timestamp><eb:MessageId>pull@x</eb:MessageId></eb:MessageInfo><eb:PullRequest/></eb:SignalMessage>');

describe.skipIf(!hasSchemas)('answers that the schemas find valid (needs ../shared/xsd)', () => {
  it.each<['1.1' | '1.2', string, Build]>((['1.2', '1.1'] as const).flatMap((soap) => [
    [soap, 'with its references', sent()],
    [soap, 'of several encrypted parts', (choices: MessageChoices) => honest({ ...choices, payloads: ['<a/>', Buffer.from([0, 255]), 'text'] })],
    [soap, 'of the test service', sent({ service: `${CORE}service`, action: `${CORE}test` })],
    [soap, 'of an id with every odd character', sent({ messageId: `a&b<c>"d'é€😀-${soap}@x`, conversationId: '&"<>' })],
  ] as ['1.1' | '1.2', string, Build][]))('SOAP %s Receipt %s, and its replay', async (soap, _name, build) => {
    const message = build({ soap });
    const first = await served.post(message);
    expect(first.what, JSON.stringify(served.exchanges.at(-1))).toBe('receipt');
    judged(first, soap);
    const replay = await served.post(message);
    expect(replay.body.equals(first.body)).toBe(true);
  });

  // AS4 5.1.8 (a) asks for a copy of the UserMessage where nothing was signed; the schema wants another namespace there
  it.each(['1.2', '1.1'] as const)('SOAP %s Receipt of an unsigned message, but for what AS4 puts into it against the schema', async (soap) => {
    const answer = await served.post(as4Message({ soap, from: 'POP000003', payloads: ['<a/>'] }));
    expect(answer.what).toBe('receipt');
    expect(invalidity(answer.envelope ?? Buffer.alloc(0))).toMatch(/^[^\n]*UserMessage': This element is not expected[^\n]*\n?$/);
    expect(libxml2Verdict(answer.envelope ?? Buffer.alloc(0))).toBeUndefined();
  });

  it.each<['1.1' | '1.2', string, Build]>((['1.2', '1.1'] as const).flatMap((soap) => [
    [soap, 'EBMS:0003', shaped((x) => x.replace(/<eb:Property name="MimeType">[^<]*<\/eb:Property>/, ''))],
    [soap, 'EBMS:0004', sent({ c4: '9915:somebody else' })],
    [soap, 'EBMS:0007', (choices: MessageChoices) => plain(choices.messageId ?? 'x@x', { ...choices, plan: { tamperParts: () => [] } })],
    [soap, 'EBMS:0008', shaped(pull, { payloads: [], bare: true })],
    [soap, 'EBMS:0009', shaped((x) => x.replace(/<eb:From>[^]*<\/eb:From>/, ''))],
    [soap, 'EBMS:0010', sent({ to: 'POP000009' })],
    [soap, 'EBMS:0011', shaped((x) => x.replace(/href="cid:[^"]*"/, 'href="http://127.0.0.1/payload"'))],
    [soap, 'EBMS:0101', sent({ signer: stranger })],
    [soap, 'EBMS:0102', (choices: MessageChoices) => honest({ ...choices, receiver: neighbour.certificate })],
    [soap, 'EBMS:0103', (choices: MessageChoices) => as4Message({ ...choices, payloads: ['<a/>'] })],
    [soap, 'EBMS:0202', sent({ action: 'refuse' })],
    [soap, 'EBMS:0303', sent({ payloads: [Buffer.alloc(2_000_000)] })],
  ] as ['1.1' | '1.2', string, Build][]))('SOAP %s Error %s', async (soap, code, build) => {
    const answer = await served.post(build({ soap }));
    expect(answer.errors.map((error) => [error.code, error.severity]), JSON.stringify(served.exchanges.at(-1))).toEqual([[code, 'failure']]);
    judged(answer, soap);
  });

  it('SOAP 1.2, where not even the version could be read', async () => {
    const answer = await served.post({ body: Buffer.from('nothing that is XML'), contentType: 'application/soap+xml' });
    expect(answer.errors[0]?.code).toBe('EBMS:0009');
    judged(answer, answer.soap ?? '1.2');
  });
});
