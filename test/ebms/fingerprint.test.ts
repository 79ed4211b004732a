import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../src/ebms/envelope.js';
import { cidHash, cidPart, earlyFingerprint, fingerprint, fingerprintFromReceipt } from '../../src/ebms/fingerprint.js';
import { LIMITS } from '../../src/limits.js';
import { SHA256, cid, envelope, receipt, signalEnvelope, signature } from './sample.js';
import type { Sample } from './sample.js';

const digestOf = (content: string): Buffer => createHash('sha256').update(content).digest();
const base64 = (content: string): string => digestOf(content).toString('base64');

function of(sample: Sample, ...parts: readonly string[]): string {
  return fingerprint(readEnvelope(Buffer.from(envelope(sample)), LIMITS), parts.map(digestOf));
}
const early = (sample: Sample): string | undefined =>
  earlyFingerprint(readEnvelope(Buffer.from(envelope(sample)), LIMITS));
const encrypted = (href: string): string =>
  `<x:EncryptedData xmlns:x="http://www.w3.org/2001/04/xmlenc#"><x:CipherData><x:CipherReference URI="${href}"/></x:CipherData></x:EncryptedData>`;

describe('signed', () => {
  const first: Sample = {
    payloads: cid('a', 'b'),
    security: signature([
      ['#msg', base64('m')],
      ['#body', base64('b')],
      ['cid:a', base64('1')],
      ['cid:b', base64('2')],
    ]),
  };

  it('is known from the root part, and the parts do not change it', () => {
    expect(of(first, 'x')).toMatch(/^signed:[\w-]{43}$/);
    expect(early(first)).toBe(of(first, 'y', 'z'));
  });

  it('survives a retry that is stamped, signed, named and ordered anew', () => {
    const retry: Sample = {
      timestamp: '2027-01-01T00:00:00Z',
      bodyId: 'other',
      payloads: cid('d', 'c'),
      security: signature([
        ['cid:c', base64('2')],
        ['#msg', base64('m2')],
        ['cid:d', base64('1')],
        ['#other', base64('b2')],
      ]),
    };
    expect(of(retry)).toBe(of(first));
  });

  it('changes with any signed digest, with their number, and with what algorithm they are of', () => {
    const altered = (security: string): string => of({ payloads: cid('a', 'b'), security });
    expect(
      altered(
        signature([
          ['cid:a', base64('1')],
          ['cid:b', base64('3')],
        ]),
      ),
    ).not.toBe(of(first));
    expect(
      altered(
        signature([
          ['cid:a', base64('1')],
          ['cid:b', base64('2')],
          ['cid:c', base64('2')],
        ]),
      ),
    ).not.toBe(of(first));
    expect(
      altered(
        signature([
          ['cid:a', base64('1')],
          ['cid:b', base64('2')],
        ]).replaceAll(SHA256, 'urn:other'),
      ),
    ).not.toBe(of(first));
  });

  it('two attachments of one content count twice, and one reference in two signatures once', () => {
    const same = signature([
      ['cid:a', base64('1')],
      ['cid:b', base64('1')],
    ]);
    const single = signature([['cid:a', base64('1')]]);
    expect(of({ payloads: cid('a', 'b'), security: same })).not.toBe(of({ payloads: cid('a'), security: single }));
    expect(of({ payloads: cid('a'), security: single + single })).toBe(of({ payloads: cid('a'), security: single }));
  });

  it('covers the Body where it is in clear, whatever its wsu:Id and its prefixes', () => {
    const security = signature([['#body', base64('b')]]);
    const body = '<p:o xmlns:p="urn:o" b="2" a="1">x</p:o>';
    const one = of({ security, body });
    expect(one).toMatch(/^signed:[\w-]{43}\.[\w-]{43}$/);
    expect(
      of({
        security: signature([['#new', base64('c')]]),
        bodyId: 'new',
        body: `\n${body.replace('b="2" a="1"', 'a="1"  b="2"')}\n`,
      }),
    ).toBe(one);
    expect(of({ security, body: body.replace('>x<', '>y<') })).not.toBe(one);
    expect(of({ payloads: cid('a'), security: signature([['cid:a', base64('1')]]), body })).not.toBe(
      of({ payloads: cid('a'), security: signature([['cid:a', base64('1')]]) }),
    );
  });

  it('a reference is found by its id, percent-encoded or not', () => {
    expect(of({ payloads: cid('a@x'), security: signature([['cid:a%40x', base64('1')]]) })).toMatch(/^signed:/);
  });

  it('is not taken where an attachment the header lists is not signed: then the bytes count', () => {
    const partly: Sample = { payloads: cid('a', 'b'), security: signature([['cid:a', base64('1')]]) };
    expect(early(partly)).toBeUndefined();
    expect(of(partly, '1', '2')).toMatch(/^plain:/);
    expect(of(partly, '1', '2')).not.toBe(of(partly, '1', '3'));
  });

  it('a signature inside the business document is none of the message', () => {
    expect(of({ payloads: cid('a'), body: signature([['cid:a', base64('1')]]) }, '1')).toMatch(/^plain:/);
  });
});

describe('plain', () => {
  it('is the content of all parts in order and of the Body', () => {
    const payloads = cid('a', 'b');
    const one = of({ payloads }, '1', '2');
    expect(one).toMatch(/^plain:[\w-]{43}$/);
    expect(of({ payloads: cid('x', 'y'), timestamp: '2027-01-01T00:00:00Z' }, '1', '2')).toBe(one);
    expect(of({ payloads }, '2', '1')).not.toBe(one);
    expect(of({ payloads }, '1')).not.toBe(one);
    expect(of({ payloads, body: '<o/>' }, '1', '2')).not.toBe(one);
    expect(of({ body: '<o>1</o>' })).not.toBe(of({ body: '<o>2</o>' }));
  });
});

describe('header', () => {
  it('stands for a message without payload, signed or not: To, Service, Action, MessageProperties', () => {
    const one = of({});
    expect(one).toMatch(/^header:[\w-]{43}$/);
    expect(of({ timestamp: '2027-01-01T00:00:00Z', from: '<eb:PartyId>other</eb:PartyId>' })).toBe(one);
    expect(
      of({
        security: signature([
          ['#msg', base64('m')],
          ['#body', base64('b')],
        ]),
      }),
    ).toBe(one);
    expect(
      of({
        properties:
          '<eb:Property name="finalRecipient">C4</eb:Property><eb:Property name="originalSender">C1</eb:Property>',
      }),
    ).toBe(one);
    for (const other of [
      { action: 'other' },
      { to: '<eb:PartyId>carol</eb:PartyId>' },
      { properties: '<eb:Property name="a">C1</eb:Property>' },
    ]) {
      expect(of(other)).not.toBe(one);
    }
  });

  it('names payloads that lie elsewhere', () => {
    const link = (url: string): string => of({ payloads: `<eb:PartInfo href="${url}"/>` });
    expect(link('http://a/1')).not.toBe(link('http://a/2'));
    expect(link('http://a/1')).toMatch(/^header:/);
  });
});

describe('opaque', () => {
  const body = (cipher: string): string =>
    `<x:EncryptedData xmlns:x="http://www.w3.org/2001/04/xmlenc#">${cipher}</x:EncryptedData>`;
  const token = (der: string): string =>
    `<w:BinarySecurityToken u:Id="t">${der}</w:BinarySecurityToken>${signature(
      [['#body', base64('b')]],
      '<d:KeyInfo><w:SecurityTokenReference><w:Reference URI="#t"/></w:SecurityTokenReference></d:KeyInfo>',
    )}`;

  it('an encrypted Body: the header and who signed; new ciphertext is what an honest retry brings', () => {
    const one = of({ body: body('1'), security: token('AQID') });
    expect(one).toMatch(/^opaque:[\w-]{43}$/);
    expect(early({ body: body('1'), security: token('AQID') })).toBe(one);
    expect(of({ body: body('2'), security: token('AQID') })).toBe(one);
    expect(of({ body: body('1'), security: token('AQIE') })).not.toBe(one);
    expect(of({ body: body('1'), security: token('AQID'), action: 'other' })).not.toBe(one);
  });

  it('a signer that is only named counts by its name', () => {
    const named = (ski: string): string =>
      signature(
        [],
        `<d:KeyInfo><w:SecurityTokenReference><w:KeyIdentifier ValueType="ski">${ski}</w:KeyIdentifier></w:SecurityTokenReference></d:KeyInfo>`,
      );
    expect(of({ body: body('1'), security: named('AA==') })).toBe(of({ body: body('2'), security: named(' AA==\n') }));
    expect(of({ body: body('1'), security: named('AA==') })).not.toBe(of({ body: body('1'), security: named('BB==') }));
  });

  it('an encrypted attachment that no signature covers', () => {
    const sample: Sample = { payloads: cid('a'), security: encrypted('cid:a') };
    expect(of(sample, 'ciphertext 1')).toBe(of(sample, 'ciphertext 2'));
    expect(early(sample)).toMatch(/^opaque:/);
  });

  it('an encrypted attachment that is signed is signed', () => {
    expect(of({ payloads: cid('a'), security: encrypted('cid:a') + signature([['cid:a', base64('1')]]) })).toMatch(
      /^signed:/,
    );
  });
});

describe('the Receipt', () => {
  it('says the same of the content as the message it is for', () => {
    const references: [string, string][] = [
      ['#msg', base64('m')],
      ['cid:a', base64('1')],
      ['cid:b', base64('2')],
    ];
    const message = of({ payloads: cid('a', 'b'), security: signature(references), body: '<o/>' });
    const { signals } = readEnvelope(Buffer.from(signalEnvelope(receipt([...references].reverse()))), LIMITS);
    expect(fingerprintFromReceipt(signals[0]!.receipt!.nri!)).toBe(cidPart(message));
    expect(cidPart(message)).not.toBe(message);
  });

  it('says nothing of it without cid: references, and other kinds have no such part', () => {
    expect(fingerprintFromReceipt([{ uri: '#body', digestMethod: SHA256, digestValue: base64('b') }])).toBeUndefined();
    expect(cidPart('plain:x')).toBeUndefined();
    expect(cidPart('signed:x')).toBe('signed:x');
  });

  it('order never counts, content always does', () => {
    const entry = fc.record({
      uri: fc.constantFrom('cid:a', 'cid:b', '#c'),
      digestMethod: fc.constantFrom('x', 'y'),
      digestValue: fc.constantFrom('AAAA', 'BBBB', 'no base64 !'),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), fc.array(entry, { maxLength: 6 }), (a, b) => {
        const content = (list: typeof a): string =>
          JSON.stringify(
            [...new Set(list.filter((r) => r.uri !== '#c').map((r) => [r.uri, r.digestMethod, r.digestValue].join()))]
              .map((r) => r.split(',').slice(1).join())
              .sort(),
          );
        expect(cidHash([...a].reverse())).toBe(cidHash(a));
        expect(cidHash(a) === cidHash(b)).toBe(content(a) === content(b));
      }),
    );
  });
});
