import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { XmlC14NMode, XmlDocument } from 'libxml2-wasm';
import { describe, expect, test } from 'vitest';
import { canonicalDocument } from '../../conformance/as4/canonical.js';
import { parameterOf, splitMultipart } from '../../conformance/as4/multipart.js';
import { buildRequest } from '../../conformance/as4/request.js';
import type { BuiltRequest, RequestPlan } from '../../conformance/as4/request.js';
import { NotVerified, verifyEnvelope } from '../../conformance/as4/verify.js';
import { makeIdentity } from '../../conformance/keys.js';
import { agreementOf, messageUnder, payloadFor, PROFILES } from '../../conformance/profile.js';
import { withNewBoundary } from '../../conformance/run/draft.js';
import { readIncoming } from './receivers/incoming.js';

const sender = makeIdentity('sender');
const receiver = makeIdentity('receiver');

function plan(change: Partial<RequestPlan> = {}, profile: (typeof PROFILES)[number] = 'peppol'): RequestPlan {
  const agreement = agreementOf(profile, 'a', 'b');
  return {
    message: messageUnder(agreement, [payloadFor(profile, agreement, 'as4c-000000000000000000000000', 500)]),
    identity: sender,
    receiver: receiver.certificate,
    ...change,
  };
}

function read(request: BuiltRequest) {
  return readIncoming(request.body, request.contentType, {
    key: receiver.key,
    requireSignature: true,
    trusted: [sender.certificate.raw],
  });
}

describe('messages of the suite', () => {
  test.each(PROFILES)('profile %s: signed, encrypted, compressed, and read back', (profile) => {
    const made = plan({}, profile);
    const incoming = read(buildRequest(made));
    expect(incoming.messageId).toBe(made.message.messageId);
    expect(incoming.payloads[0]?.content.equals(made.message.payloads[0]?.content as Buffer)).toBe(true);
    expect(incoming.references).toHaveLength(3);
  });

  test('the digests of a rebuilt message: payloads stay, header and body differ', () => {
    const made = plan();
    const [one, two] = [buildRequest(made).references, buildRequest(made).references];
    const digest = (list: typeof one, cid: boolean) =>
      list.filter(({ uri }) => uri.startsWith('cid:') === cid).map((reference) => reference.digest);
    expect(digest(one, true)).toEqual(digest(two, true));
    for (const [index, value] of digest(one, false).entries()) expect(value).not.toBe(digest(two, false)[index]);
  });

  test('the signed digest of a payload is that of its compressed bytes', () => {
    const request = buildRequest(plan({ receiver: undefined } as unknown as Partial<RequestPlan>));
    const part = splitMultipart(request.body, parameterOf(request.contentType, 'boundary') ?? '')[1];
    const digest = createHash('sha256')
      .update(part?.bytes ?? '')
      .digest('base64');
    expect(request.references.find(({ uri }) => uri.startsWith('cid:'))?.digest).toBe(digest);
    expect(gunzipSync(part?.bytes ?? '').includes('as4c-')).toBe(true);
  });

  test('a new boundary changes the framing and nothing else', () => {
    const request = buildRequest(plan());
    const again = withNewBoundary(request);
    const parts = (r: BuiltRequest) =>
      splitMultipart(r.body, parameterOf(r.contentType, 'boundary') ?? '').map(({ bytes }) => bytes.toString('base64'));
    expect(again.contentType).not.toBe(request.contentType);
    expect(parts(again)).toEqual(parts(request));
  });

  test('cut marks point where they say', () => {
    const request = buildRequest(plan());
    expect(request.body.subarray(0, request.rootEnd).toString('latin1')).toMatch(/<\/S12:Envelope>$/);
    expect(request.body.subarray(request.closingStart).toString('latin1')).toMatch(/^\r\n--.*--\r\n$/);
  });
});

describe('verification', () => {
  const request = buildRequest(plan({ packaging: 'bare', message: messageUnder(agreementOf('custom', 'a', 'b'), []) }));
  const verify = (xml: string) => verifyEnvelope(Buffer.from(xml));

  test('an untouched envelope verifies, under the certificate it carries', () => {
    expect(verify(request.envelope).certificate.raw.equals(sender.certificate.raw)).toBe(true);
  });

  // Each of these fools xml-crypto alone, or would if it were asked in another way.
  test.each<[string, (xml: string) => string]>([
    ['a changed value', (xml) => xml.replace('<eb:Action>', '<eb:Action>x')],
    ['a processing instruction for text', (xml) => xml.replace(/<eb:MessageId>([^<]*)</, '<eb:MessageId><?p $1?><')],
    [
      'the signed header moved into a wrapper',
      (xml) =>
        xml.replace(
          /<eb:Messaging [^]*<\/eb:Messaging>/,
          (signed) => `${signed.replace(/wsu:Id="[^"]*"/, 'wsu:Id="f"')}<w>${signed}</w>`,
        ),
    ],
    [
      'the same Id twice',
      (xml) =>
        xml.replace(
          '</S12:Header>',
          `<x wsu:Id="${/<eb:Messaging [^>]*wsu:Id="([^"]*)"/.exec(xml)?.[1]}"/></S12:Header>`,
        ),
    ],
    [
      'a second signature',
      (xml) => xml.replace(/<ds:Signature[^]*<\/ds:Signature>/, (signature) => signature + signature),
    ],
    ['no signature', (xml) => xml.replace(/<ds:Signature[^]*<\/ds:Signature>/, '')],
    [
      'SHA-1',
      (xml) => xml.replaceAll('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'),
    ],
    [
      'a foreign certificate',
      (xml) => xml.replace(sender.certificate.raw.toString('base64'), receiver.certificate.raw.toString('base64')),
    ],
    ['a certificate that is none', (xml) => xml.replace(sender.certificate.raw.toString('base64'), 'AAAA')],
  ])('%s is refused', (_what, change) => {
    const changed = change(request.envelope);
    expect(changed).not.toBe(request.envelope);
    expect(() => verify(changed)).toThrow();
  });

  test('a reference to a part that is not given is refused', () => {
    expect(() => verifyEnvelope(Buffer.from(buildRequest(plan()).envelope))).toThrow(NotVerified);
  });
});

describe('canonical form', () => {
  // xml-crypto sorts prefixes by locale: `eb` before `S12`; Canonical XML wants code points: `S12` before `eb`.
  test.each([
    '<S12:a xmlns:S12="urn:u" xmlns:eb="urn:v"><eb:b S12:x="1" eb:y="2"/></S12:a>',
    '<a xmlns="urn:u" z="1" a="2"><b xmlns="" c="&lt;&quot;&#10;"/>x&amp;y&gt;<!-- gone --></a>',
    '<x:a xmlns:x="urn:u" xmlns:X="urn:v" X:k="1" x:k="2"><![CDATA[<c>]]></x:a>',
    '<a><b>\r\n\t </b></a>',
  ])('as libxml2 makes it: %s', (xml) => {
    const document = XmlDocument.fromString(xml);
    try {
      expect(canonicalDocument(xml)).toBe(
        document.root.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 }),
      );
    } finally {
      document.dispose();
    }
  });
});
