import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../src/ebms/envelope.js';
import { readEncryption } from '../../src/ebms/encryption-info.js';
import type { Envelope } from '../../src/ebms/units.js';
import { As4OnceError } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import { EB, S11, S12, cid, envelope, receipt, signal, signalEnvelope, signature, userMessage } from './sample.js';
import type { Sample } from './sample.js';

const read = (of: Sample | string): Envelope =>
  readEnvelope(Buffer.from(typeof of === 'string' ? of : envelope(of)), LIMITS);

function refusal(of: Sample | string): string {
  try {
    read(of);
  } catch (error) {
    if (error instanceof As4OnceError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('a UserMessage', () => {
  it('is read whole', () => {
    const {
      userMessage: user,
      soap,
      signals,
    } = read({
      payloads: `${cid('a')}<eb:PartInfo><eb:PartProperties><eb:Property name="n" type="t"> v </eb:Property></eb:PartProperties></eb:PartInfo>`,
    });
    expect(soap).toBe('1.2');
    expect(signals).toEqual([]);
    expect(user).toMatchObject({
      messageId: 'm1@test',
      timestamp: '2026-01-02T03:04:05.678Z',
      from: { ids: [{ value: 'alice', type: 'urn:t' }], role: 'r1' },
      to: { ids: [{ value: 'bob' }], role: 'r2' },
      agreement: { value: 'agreed', pmode: 'p' },
      service: { value: 'service', type: 'st' },
      action: 'act',
      conversationId: 'c1',
      messageProperties: [
        { name: 'originalSender', value: 'C1' },
        { name: 'finalRecipient', value: 'C4' },
      ],
      payloads: [{ href: 'cid:a', properties: [] }, { properties: [{ name: 'n', type: 't', value: 'v' }] }],
    });
    expect(user).not.toHaveProperty('mpc');
    expect(user).not.toHaveProperty('refToMessageId');
  });

  it('reads the same in SOAP 1.1 and under any prefixes', () => {
    expect(read({ soap: S11 })).toMatchObject({ soap: '1.1', userMessage: { messageId: 'm1@test' } });
    const renamed = envelope()
      .replaceAll('<eb:', '<ns2:')
      .replaceAll('</eb:', '</ns2:')
      .replace('xmlns:eb', 'xmlns:ns2')
      .replaceAll('<s:', '<')
      .replaceAll('</s:', '</')
      .replace('xmlns:s=', 'xmlns=');
    expect(read(renamed)).toMatchObject({ soap: '1.2', userMessage: { messageId: 'm1@test', action: 'act' } });
  });

  it('needs nothing but its MessageId: what else the schema wants is for the access point to miss', () => {
    // Recorded messages of Domibus, phase4 and others lack To, Service, Action or ConversationId, and are read all the same.
    const bare = envelope({
      messaging:
        '<eb:Messaging><eb:UserMessage><eb:MessageInfo><eb:MessageId>x</eb:MessageId></eb:MessageInfo></eb:UserMessage></eb:Messaging>',
    });
    expect(read(bare).userMessage).toMatchObject({
      messageId: 'x',
      timestamp: '',
      from: { ids: [] },
      to: { ids: [] },
      action: '',
      payloads: [],
    });
  });
});

describe('the MessageId', () => {
  it('is taken exactly: case, brackets, inner and outer white space, no RFC 2822 check', () => {
    for (const id of ['<M1@test>'.replace('<', '&lt;'), 'no-at-sign', ' m1@test ', 'M1@TEST', 'a b', 'ünïcode']) {
      expect(read({ id }).userMessage!.messageId).toBe(id.replace('&lt;', '<'));
    }
  });

  it('is all of its character data: a comment, CDATA or reference in the middle must not shorten it', () => {
    // Readers that take the first text node only would see "victim": the truncation known from SAML libraries.
    expect(read({ id: 'victim<!-- -->@evil' }).userMessage!.messageId).toBe('victim@evil');
    expect(read({ id: '<![CDATA[victim]]>@&#101;vil' }).userMessage!.messageId).toBe('victim@evil');
  });

  it('with elements, empty or over its bound is refused; the bound counts UTF-8 bytes', () => {
    expect(refusal({ id: '<b>m1</b>' })).toBe('MESSAGE_ID_INVALID');
    expect(refusal({ id: 'm1<b/>' })).toBe('MESSAGE_ID_INVALID');
    for (const id of ['', ' \n\t', '<!-- m1 -->']) expect(refusal({ id })).toBe('MESSAGE_ID_INVALID');
    expect(refusal({ id: 'm'.repeat(255) })).toBe('accepted');
    expect(refusal({ id: 'm'.repeat(256) })).toBe('MESSAGE_ID_INVALID');
    expect(refusal({ id: 'é'.repeat(127) })).toBe('accepted');
    expect(refusal({ id: 'é'.repeat(128) })).toBe('MESSAGE_ID_INVALID');
  });

  it('with a processing instruction is refused: xml-crypto digests one as text, other readers see an empty id', () => {
    expect(refusal({ id: '<?p m1@test?>' })).toBe('XML_FORBIDDEN');
  });
});

describe('PartyIds', () => {
  it('all of them are read, without the blanks of pretty printing', () => {
    expect(
      read({ from: '<eb:PartyId type="a">\n x\n</eb:PartyId><eb:PartyId>y</eb:PartyId>' }).userMessage!.from.ids,
    ).toEqual([{ value: 'x', type: 'a' }, { value: 'y' }]);
  });
  it('empty, over the bound or too many: refused', () => {
    for (const from of [
      '<eb:PartyId/>',
      '<eb:PartyId><b/></eb:PartyId>',
      `<eb:PartyId>${'x'.repeat(256)}</eb:PartyId>`,
      `<eb:PartyId type="${'x'.repeat(256)}">x</eb:PartyId>`,
      '<eb:PartyId>x</eb:PartyId>'.repeat(33),
    ]) {
      expect(refusal({ from })).toBe('PARTY_ID_INVALID');
    }
    expect(refusal({ from: '<eb:PartyId>x</eb:PartyId>'.repeat(32) })).toBe('accepted');
  });
});

describe('structure', () => {
  const messaging = `<eb:Messaging>${userMessage()}</eb:Messaging>`;
  const refused: Record<string, Sample | string> = {
    'two UserMessages': { messaging: `<eb:Messaging>${userMessage()}${userMessage({ id: 'm2@test' })}</eb:Messaging>` },
    'two eb:Messaging': { messaging: messaging + messaging },
    'an empty eb:Messaging': { messaging: '<eb:Messaging/>' },
    'no MessageInfo': { messaging: '<eb:Messaging><eb:UserMessage/></eb:Messaging>' },
    'no MessageId': { messaging: '<eb:Messaging><eb:UserMessage><eb:MessageInfo/></eb:UserMessage></eb:Messaging>' },
    'two MessageIds': envelope().replace('<eb:MessageId>', '<eb:MessageId>x</eb:MessageId><eb:MessageId>'),
    'two MessageInfos': envelope().replace(
      '<eb:MessageInfo>',
      '<eb:MessageInfo><eb:MessageId>x</eb:MessageId></eb:MessageInfo><eb:MessageInfo>',
    ),
    'two PartyInfos': envelope().replace('<eb:PartyInfo>', '<eb:PartyInfo/><eb:PartyInfo>'),
    'two Froms': envelope().replace('<eb:From>', '<eb:From/><eb:From>'),
    'two Headers': envelope().replace('<s:Body', '<s:Header/><s:Body'),
    'two Bodies': envelope().replace('</s:Envelope>', '<s:Body/></s:Envelope>'),
    'another root': `<eb:Messaging xmlns:eb="${EB}">${userMessage()}</eb:Messaging>`,
    'a namespace that is no SOAP': envelope({ soap: 'urn:soap' }),
    'two SignedInfos': { security: signature([]).replace('<d:SignedInfo>', '<d:SignedInfo/><d:SignedInfo>') },
  };
  for (const [why, of] of Object.entries(refused))
    it(`${why}: refused`, () => expect(refusal(of)).toBe('HEADER_INVALID'));

  it("eb:Messaging counts only as a child of the SOAP Header: a wrapped one is somebody's content", () => {
    const wrapped = envelope({
      messaging: `<w xmlns="urn:w">${messaging}</w>${messaging.replace('m1@test', 'm2@test')}`,
    });
    expect(read(wrapped).userMessage!.messageId).toBe('m2@test');
    expect(read({ messaging: '', body: messaging })).not.toHaveProperty('userMessage');
  });

  it('an envelope without eb:Messaging has no units; a Fault is told', () => {
    const fault = envelope({ messaging: '', body: '<s:Fault><s:Reason><s:Text>no</s:Text></s:Reason></s:Fault>' });
    expect(read(fault)).toMatchObject({ signals: [], fault: 'no' });
    expect(read({ soap: S11, messaging: '', body: '<s:Fault><faultstring>no</faultstring></s:Fault>' }).fault).toBe(
      'no',
    );
    expect(read(fault)).not.toHaveProperty('messaging');
  });

  it('deep nesting, many attributes, a long root', () => {
    expect(refusal({ body: '<a>'.repeat(100) + '</a>'.repeat(100) })).toBe('XML_TOO_DEEP');
    expect(refusal({ body: `<a>${'x'.repeat(LIMITS.rootPart)}</a>` })).toBe('ROOT_TOO_LARGE');
  });
});

describe('signals', () => {
  it('Receipt with NonRepudiationInformation', () => {
    const [found] = read(signalEnvelope(receipt([['cid:a', 'A A\n==']]))).signals;
    expect(found).toMatchObject({
      messageId: 's1@test',
      refToMessageId: 'm0@test',
      kinds: ['Receipt'],
      receipt: { nri: [{ uri: 'cid:a', digestValue: 'AA==' }] },
    });
  });

  it('Receipt without it, Errors, PullRequest', () => {
    expect(read(signalEnvelope('<eb:Receipt><x xmlns="urn:x"/></eb:Receipt>')).signals[0]!.receipt).toEqual({});
    const [errors] = read(
      signalEnvelope(
        '<eb:Error errorCode="EBMS:0004" severity="failure" category="Content" shortDescription="Other" refToMessageInError="m0"><eb:Description xml:lang="en">d</eb:Description><eb:ErrorDetail>e</eb:ErrorDetail></eb:Error><eb:Error errorCode="EBMS:0006" severity="warning"/>',
      ),
    ).signals;
    expect(errors).toMatchObject({
      kinds: ['Error'],
      errors: [
        {
          code: 'EBMS:0004',
          severity: 'failure',
          category: 'Content',
          shortDescription: 'Other',
          refToMessageInError: 'm0',
          description: 'd',
          detail: 'e',
        },
        { code: 'EBMS:0006', severity: 'warning' },
      ],
    });
    expect(read(signalEnvelope('<eb:PullRequest mpc="urn:mpc"/>')).signals[0]).toMatchObject({
      kinds: ['PullRequest'],
      pullMpc: 'urn:mpc',
      errors: [],
    });
  });

  it('bundled with a UserMessage', () => {
    const bundled = read({ signals: signal('<eb:Receipt/>') });
    expect([bundled.userMessage!.messageId, bundled.signals.length]).toEqual(['m1@test', 1]);
  });
});

describe('security, as claims', () => {
  it('signatures of the Security header only, with references and embedded certificate', () => {
    const token = '<w:BinarySecurityToken u:Id="t" ValueType="x#X509v3">AQID\nBA==</w:BinarySecurityToken>';
    const keyInfo =
      '<d:KeyInfo><w:SecurityTokenReference><w:Reference URI="#t"/></w:SecurityTokenReference></d:KeyInfo>';
    const { signatures } = read({
      security:
        token +
        signature(
          [
            ['#msg', 'AA=='],
            ['cid:a', ' BB\n== '],
          ],
          keyInfo,
        ),
      body: signature([['#x', 'CC==']]),
    });
    expect(signatures).toHaveLength(1);
    expect(signatures[0]).toMatchObject({
      signatureMethod: 'rsa',
      c14n: 'c14n',
      signatureValue: 'AA==',
      references: [{ uri: '#msg' }, { uri: 'cid:a', digestValue: 'BB==' }],
    });
    expect(Buffer.from(signatures[0]!.certificate!)).toEqual(Buffer.of(1, 2, 3, 4));
  });

  it('a PKIPath token gives its last certificate, one cut short none', () => {
    const path = (der: readonly number[]): string =>
      `<w:BinarySecurityToken u:Id="t" ValueType="x#X509PKIPathv1">${Buffer.from(der).toString('base64')}</w:BinarySecurityToken>${signature(
        [],
        '<d:KeyInfo><w:SecurityTokenReference><w:Reference URI="#t"/></w:SecurityTokenReference></d:KeyInfo>',
      )}`;
    expect(
      Buffer.from(
        read({ security: path([0x30, 0x07, 0x30, 0x01, 0x0a, 0x30, 0x02, 0x0b, 0x0c]) }).signatures[0]!.certificate!,
      ),
    ).toEqual(Buffer.of(0x30, 0x02, 0x0b, 0x0c));
    for (const der of [
      [],
      [0x30],
      [0x30, 0x84],
      [0x30, 0x80, 0],
      [0x30, 0x09, 0x30, 0x01],
      [0x02, 0x01, 0x01],
      [0x30, 0x03, 0x30, 0x05, 0x01],
    ]) {
      expect(read({ security: path(der) }).signatures[0]).not.toHaveProperty('certificate');
    }
  });

  it('encryption', () => {
    const data = `<x:EncryptedKey xmlns:x="http://www.w3.org/2001/04/xmlenc#"><x:EncryptionMethod Algorithm="oaep"/></x:EncryptedKey><x:EncryptedData xmlns:x="http://www.w3.org/2001/04/xmlenc#" Id="e1" MimeType="a/b"><x:EncryptionMethod Algorithm="gcm"/><x:CipherData><x:CipherReference URI="cid:a"/></x:CipherData></x:EncryptedData>`;
    const found = read({ security: data });
    expect(readEncryption(found)).toEqual({
      keys: 1,
      keyTransport: ['oaep'],
      data: [{ id: 'e1', algorithm: 'gcm', cid: 'cid:a', mimeType: 'a/b' }],
    });
    expect(found.bodyEncrypted).toBe(false);
    expect(read({ body: '<x:EncryptedData xmlns:x="http://www.w3.org/2001/04/xmlenc#"/>' }).bodyEncrypted).toBe(true);
    const clear = read({});
    expect(readEncryption(clear)).toBeUndefined();
  });

  it('an id that two elements carry is refused, so that no signature can mean either', () => {
    expect(refusal({ security: '<w:a u:Id="msg"/>' })).toBe('DUPLICATE_ID');
    expect(refusal({ bodyId: 'msg' })).toBe('DUPLICATE_ID');
  });
});

it('SOAP 1.2 is named by its namespace alone', () => {
  expect(read(envelope({ soap: S12 })).soap).toBe('1.2');
});
