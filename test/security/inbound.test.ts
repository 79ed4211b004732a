import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { createSpool } from '../../src/delivery/spool.js';
import { fingerprint } from '../../src/ebms/fingerprint.js';
import { As4OnceError } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import type { Read } from '../../src/protocol.js';
import { inboundProtocol } from '../../src/security/inbound.js';
import type { InboundContent, InboundOptions, SecurityPMode } from '../../src/security/open-message.js';
import { securityProfile } from '../../src/security/profiles.js';
import { as4Message, identity, type MessageChoices } from '../support/messages.js';
import { tempDir } from '../support/temp-dir.js';
import { certificateIn, corpus, keysIn, present } from './corpus.js';
import { ours, resign, sender } from './forge.js';

const receiver = identity('POP000002');
const pmode: SecurityPMode = securityProfile('peppol', { anchors: [ours(sender).certificate] }, { name: 'test' });
const PAYLOAD = Buffer.from('<Invoice>'.padEnd(60_000, 'payload '));

let folder: ReturnType<typeof tempDir>;
let spool: ReturnType<typeof createSpool>;
let keysAsked = 0;
beforeAll(() => {
  folder = tempDir();
  spool = createSpool({ limits: { ...LIMITS, memoryPerBody: 10_000 }, directory: folder.path, clock: systemClock });
});
afterAll(() => {
  expect(spool.counters).toMatchObject({ memoryBytes: 0, diskBytes: 0, files: 0 });
  folder.remove();
});

const settings = (more: Partial<InboundOptions> = {}): InboundOptions => ({
  pmodeOf: () => pmode, openPayload: () => spool.open(), now: () => Date.now(), maxPayload: 10_000_000,
  get keys() {
    keysAsked++;
    return [ours(receiver)];
  },
  ...more,
});

interface Wire {
  readonly body: Buffer;
  readonly contentType: string;
  readonly coding?: string;
}

async function read(wire: Wire, options = settings(), step = 1_000, skim = false): Promise<Read> {
  const headers: [string, string][] = [['Content-Type', wire.contentType]];
  if (wire.coding !== undefined) headers.push(['Content-Encoding', wire.coding]);
  const reading = inboundProtocol(options).open({ headers, target: '/' }, LIMITS);
  let looked = false;
  for (let at = 0; at < wire.body.length; at += step) {
    await reading.push(wire.body.subarray(at, at + step));
    if (skim && !looked && reading.early?.kind === 'message') {
      looked = true;
      reading.skim?.();
    }
  }
  return await reading.end();
}

const build = (choices: MessageChoices = {}): Wire =>
  as4Message({ signer: sender, receiver: receiver.certificate, compress: true, payloads: [PAYLOAD, '<second/>'], ...choices });

async function contents(answer: Read): Promise<Buffer[]> {
  if (answer.kind !== 'message') throw new Error('no message');
  const content = answer.content as InboundContent;
  const payloads: Buffer[] = [];
  for (const { body } of content.payloads) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body.stream()) chunks.push(Buffer.from(chunk));
    payloads.push(Buffer.concat(chunks));
  }
  await content.dispose();
  return payloads;
}

async function refusal(wire: Wire, options = settings(), step = 1_000): Promise<string> {
  try {
    const answer = await read(wire, options, step);
    if (answer.kind === 'message') await (answer.content as InboundContent | undefined)?.dispose();
    return 'accepted';
  } catch (error) {
    if (error instanceof As4OnceError) return error.code;
    throw error;
  }
}

describe('the endpoint reads', () => {
  it('a signed, encrypted and compressed message, however it is cut', async () => {
    const wire = build();
    for (const step of [100_000, 1_000, 97]) {
      const answer = await read(wire, settings(), step);
      expect(answer).toMatchObject({ kind: 'message', bundled: false, message: { signed: true, protocol: 'as4' }, content: { pmode: { name: 'test' }, payloads: [{ mimeType: 'application/octet-stream' }, { mimeType: 'application/xml' }] } });
      expect(await contents(answer)).toEqual([PAYLOAD, Buffer.from('<second/>')]);
    }
  });

  it('the same with Content-Encoding gzip', async () => {
    const wire = build();
    expect(await contents(await read({ ...wire, body: gzipSync(wire.body), coding: 'gzip' }))).toEqual([PAYLOAD, Buffer.from('<second/>')]);
  });

  it('signed only, where the P-Mode does not ask for encryption; and one honest retry has one fingerprint', async () => {
    const lax = settings({ pmodeOf: () => ({ ...pmode, encryption: 'optional' }) });
    const choices: MessageChoices = { signer: sender, messageId: 'one@x', timestamp: '2026-11-30T00:00:00Z' };
    const [one, two] = [await read(as4Message(choices), lax), await read(as4Message(choices), lax)];
    if (one.kind !== 'message' || two.kind !== 'message') throw new Error('no message');
    expect(one.message.fingerprint).toBe(two.message.fingerprint);
    expect(one.message.fingerprint).toMatch(/^signed:/);
    await contents(one);
    await contents(two);
  });

  it('unsigned only where a P-Mode says so, with the fingerprint of its content', async () => {
    const wire = as4Message({ messageId: 'two@x' });
    expect(await refusal(wire)).toBe('UNSIGNED');
    const lax = settings({ pmodeOf: () => ({ ...pmode, signature: 'optional', encryption: 'optional' }) });
    const answer = await read(wire, lax);
    if (answer.kind !== 'message') throw new Error('no message');
    const { envelope, verified, payloads } = answer.content as InboundContent;
    expect(verified).toBeUndefined();
    expect(payloads).toHaveLength(1);
    const [payload] = await contents(answer);
    expect(answer.message.fingerprint).toBe(fingerprint(envelope, [createHash('sha256').update(payload ?? '').digest()]));
  });

  it('an attachment signed with its header fields (complete transform)', async () => {
    const signed = (fields: string) => (e: string): string => resign(e.replace(/(<ds:Reference URI="cid:[^]*?Algorithm=")[^"]*("[^]*?<ds:DigestValue>)[^<]*/, (_m, a: string, b: string) =>
      `${a}http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Complete-Signature-Transform${b}${createHash('sha256').update(`${fields}<a></a>`).digest('base64')}`), sender.key);
    const lax = settings({ pmodeOf: () => securityProfile('custom', pmode.trust, { encryption: 'optional' }) });
    const message = (fields: string): Wire => as4Message({ signer: sender, payloads: ['<a/>'], plan: { tamper: signed(fields) } });
    expect(await contents(await read(message('Content-ID:<payload-1@as4-once.test>\r\nContent-Type:application/xml\r\n'), lax))).toEqual([Buffer.from('<a/>')]);
    expect(await refusal(message('Content-ID:<payload-1@as4-once.test>\r\nContent-Type:text/xml\r\n'), lax)).toBe('AUTHENTICATION_FAILED');
  });

  it('a bare message with its payload in the Body', async () => {
    const shape = (xml: string): string => xml.replace(/<(\w+):Body([^>]*)\/>/, '<$1:Body$2><doc a="1"/></$1:Body>')
      .replace(/(<\/eb:MessageProperties>)/, '$1<eb:PayloadInfo><eb:PartInfo/></eb:PayloadInfo>');
    const lax = settings({ pmodeOf: () => ({ ...pmode, encryption: 'optional' }) });
    const wire = as4Message({ bare: true, signer: sender, plan: { spelling: { shape } } });
    expect(await contents(await read(wire, lax))).toEqual([Buffer.from('<doc a="1"></doc>')]);
    expect(await refusal(wire)).toBe('POLICY_FAILED');
  });

  /** A bare message with that in its Body, and that in its PayloadInfo; `receiver` encrypts nothing of it. */
  const withBody = (content: string, parts: string, body = ''): Wire => as4Message({ bare: true, signer: sender, plan: { spelling: {
    shape: (xml) => xml.replace(/<(\w+):Body([^>]*)\/>/, `<$1:Body$2${body}>${content}</$1:Body>`)
      .replace(/(<\/eb:MessageProperties>)/, `$1<eb:PayloadInfo>${parts}</eb:PayloadInfo>`),
  } } });
  const lax = settings({ pmodeOf: () => ({ ...pmode, encryption: 'optional' }) });

  it('a Body whose values name namespaces: they came without their declarations once, and no reader of xsi:type could use them', async () => {
    const around = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:far="urn:far" xmlns:no="urn:no"';
    const document = '<x:i xmlns:x="urn:x" xmlns:xs="urn:xs"><x:v xsi:type="xs:decimal">1</x:v><!-- unsigned --><x:w path="/far:a[b=1]"/></x:i>';
    expect((await contents(await read(withBody(document, '<eb:PartInfo/>', around), lax))).map(String)).toEqual([
      '<x:i xmlns:far="urn:far" xmlns:x="urn:x" xmlns:xs="urn:xs">'
      + '<x:v xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:decimal">1</x:v><x:w path="/far:a[b=1]"></x:w></x:i>',
    ]);
  });

  it('the element of the Body that a PartInfo names', async () => {
    const two = '<one wsu:Id="one" xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"/><two xml:id="two"><in Id="in"/></two>';
    const named = (...ids: string[]): Promise<Buffer[]> =>
      read(withBody(two, ids.map((id) => `<eb:PartInfo href=" #${id}"/>`).join('')), lax).then(contents);
    expect((await named('two', 'one')).map((b) => b.toString().slice(0, 4))).toEqual(['<two', '<one']);
    expect((await named('in')).map(String)).toEqual(['<in Id="in"></in>']);
  });

  it.each([
    ['the whole Body, where two elements stand', '<a/><b/>', '<eb:PartInfo/>'],
    ['the whole Body, where nothing but text stands (it was delivered as 0 bytes, with a Receipt)', 'text', '<eb:PartInfo/>'],
    ['the whole Body, where text stands beside an element', '<a/>text', '<eb:PartInfo/>'],
    ['an empty Body', '', '<eb:PartInfo/>'],
    ['the Body twice', '<a/>', '<eb:PartInfo/><eb:PartInfo/>'],
    ['an element twice', '<a Id="a"/>', '<eb:PartInfo href="#a"/><eb:PartInfo href="#a"/>'],
    ['an id that is not there', '<a Id="a"/>', '<eb:PartInfo href="#b"/>'],
    ['an id that stands twice', '<a Id="a"/><b Id="a"/>', '<eb:PartInfo href="#a"/>'],
  ])('no PartInfo that means %s', async (_name, content, parts) => {
    expect(await refusal(withBody(content, parts), lax)).toBe('VALUE_INCONSISTENT');
  });

  it('no PartInfo that means an element of the header', async () => {
    const wire = as4Message({ bare: true, signer: sender, plan: { spelling: { shape: (xml) =>
      xml.replace(/(<\/eb:MessageProperties>)/, '$1<eb:PayloadInfo><eb:PartInfo href="#header"/></eb:PayloadInfo>')
        .replace(/<eb:UserMessage/, '<eb:UserMessage Id="header"') } } });
    expect(await refusal(wire, lax)).toBe('VALUE_INCONSISTENT');
  });

  it('a cid: reference however it is spelled: a scheme has no case, and @href is a token', async () => {
    const spelled = (href: string): Wire => as4Message({ signer: sender, payloads: ['<a/>'], plan: { tamper: (e) =>
      resign(e.replace(/(<eb:PartInfo href=")[^"]*/, `$1${href}`), sender.key) } });
    for (const href of ['cid:payload-1@as4-once.test', 'CID:payload-1@as4-once.test', '\n  cid:payload-1@as4-once.test ']) {
      expect(await contents(await read(spelled(href), lax)), href).toEqual([Buffer.from('<a/>')]);
    }
  });

  it('a Content-ID with a literal percent sequence (RFC 2392)', async () => {
    const wire = as4Message({ signer: sender, payloads: ['<a/>'], plan: { tamper: (e) =>
      resign(e.replaceAll('cid:payload-1@as4-once.test', 'cid:r%2520f@x'), sender.key) } });
    const body = Buffer.from(wire.body.toString('latin1').replace('<payload-1@as4-once.test>', '<r%20f@x>'), 'latin1');
    expect(await contents(await read({ ...wire, body }, lax))).toEqual([Buffer.from('<a/>')]);
  });

  it('no header that must be understood and is not (SOAP 1.2, 2.6): it was ignored once, and receipted', async () => {
    const block = (attributes: string): Wire => as4Message({ signer: sender, payloads: ['<a/>'], plan: { tamper: (e) =>
      e.replace(/(<(\w+):Header>)/, `$1<x:Sequence xmlns:x="urn:x" ${attributes}/>`) } });
    expect(await refusal(block('S12:mustUnderstand="true"'), lax)).toBe('FEATURE_UNSUPPORTED');
    expect(await refusal(block('S12:mustUnderstand="1" S12:role="http://www.w3.org/2003/05/soap-envelope/role/next"'), lax)).toBe('FEATURE_UNSUPPORTED');
    for (const others of ['S12:mustUnderstand="true" S12:role="urn:other"', 'S12:mustUnderstand="false"', '']) {
      expect(await contents(await read(block(others), lax)), others).toHaveLength(1);
    }
  });

  it('a known message without a private-key operation', async () => {
    const wire = build({ messageId: 'known@x' });
    for (const step of [1_000_000, 1_000]) {
      keysAsked = 0;
      const answer = await read(wire, settings(), step, true);
      expect(answer).toMatchObject({ kind: 'message', message: { reference: 'known@x', fingerprint: expect.stringMatching(/^signed:/) as string } });
      expect(keysAsked).toBe(0);
    }
    await contents(await read(wire));
    expect(keysAsked).toBe(1);
  });

  it('signals as what is not ours to claim', async () => {
    const receipt = readFileSync(join(corpus, 'as4/eessi__receipt.xml'));
    expect(await read({ body: receipt, contentType: 'application/soap+xml' })).toEqual({ kind: 'pass' });
  });

  it('nothing more after it was abandoned, and keeps nothing', async () => {
    const wire = build();
    const reading = inboundProtocol(settings()).open({ headers: [['Content-Type', wire.contentType]], target: '/' }, LIMITS);
    for (let at = 0; at < wire.body.length * 0.7; at += 500) await reading.push(wire.body.subarray(at, at + 500));
    await reading.abandon?.();
    await reading.abandon?.();
    expect(spool.counters.memoryBytes + spool.counters.diskBytes).toBe(0);
  });
});

describe('the endpoint refuses', () => {
  const flip = (b: Buffer, at: number): Buffer => Buffer.concat([b.subarray(0, at), Buffer.from([(b[at] ?? 0) ^ 1]), b.subarray(at + 1)]);
  const parts = (change: (b: Buffer) => Buffer): MessageChoices => ({ plan: { tamperParts: (all) => all.map((p, i) => (i === 0 ? { ...p, bytes: change(p.bytes) } : p)) } });
  const open: MessageChoices = { receiver: undefined as never };
  const lax = (): InboundOptions => settings({ pmodeOf: () => ({ ...pmode, encryption: 'optional' }) });

  it.each<[string, MessageChoices, string]>([
    ['a tag that is cut', parts((b) => b.subarray(0, -3)), 'DECRYPTION_FAILED'],
    ['a changed cipher text', parts((b) => flip(b, 50)), 'DECRYPTION_FAILED'],
    ['a message for another receiver', { receiver: identity('POP000003').certificate }, 'DECRYPTION_FAILED'],
    ['a signature over the wrong bytes: encrypted first', { plan: { order: 'encrypt-sign' } }, 'AUTHENTICATION_FAILED'],
    ['a signature over the wrong bytes: signed before compression', { plan: { order: 'sign-compress' } }, 'AUTHENTICATION_FAILED'],
    ['a missing part', { plan: { tamperParts: (all) => all.slice(1) } }, 'MIME_BROKEN'],
    ['a part more', { plan: { tamperParts: (all) => [...all, { ...all[0]!, contentId: 'more@x' }] } }, 'MIME_BROKEN'],
    ['a part twice', { plan: { tamperParts: (all) => [...all, all[0]!] } }, 'MIME_BROKEN'],
    ['a MIME bomb', { plan: { tamperParts: (all) => Array.from({ length: 10_000 }, () => all[0]!) } }, 'MIME_BROKEN'],
    ['a package that is not closed', { plan: { mime: { closed: false } } }, 'MIME_BROKEN'],
    ['a self-made certificate', { signer: identity('POP000004') }, 'AUTHENTICATION_FAILED'],
  ])('%s', async (_name, choices, code) => {
    for (const step of [100_000, 1_000]) expect(await refusal(build(choices), settings(), step)).toBe(code);
  });

  it.each<[string, MessageChoices, string]>([
    ['changed content under a good signature', parts((b) => flip(b, b.length - 1)), 'AUTHENTICATION_FAILED'],
    ['what is no gzip, though signed', { plan: { compressor: () => Buffer.from('no gzip at all') } as never }, 'DECOMPRESSION_FAILED'],
    ['gzip that is cut, though signed', { plan: { compressor: (b: Buffer) => gzipSync(b).subarray(0, -9) } as never }, 'DECOMPRESSION_FAILED'],
    ['a gzip bomb, though signed', { payloads: [Buffer.alloc(50_000_000)] }, 'DECOMPRESSION_FAILED'],
    ['what is too large without compression', { compress: false, payloads: [Buffer.alloc(10_000_001)] }, 'BODY_TOO_LARGE'],
  ])('%s', async (_name, choices, code) => {
    expect(await refusal(build({ ...open, ...choices }), lax(), 60_000)).toBe(code);
  });

  // small on the wire, so that they are inflated in one call; what does not fit into that goes on by steps
  it('neither more nor less of a payload that is inflated at once, or was begun to', async () => {
    for (const length of [0, 1, 200_000, 512 * 1024, 512 * 1024 + 1, 3_000_000]) {
      const plain = Buffer.alloc(length, 'z');
      const [got] = await contents(await read(build({ ...open, payloads: [plain] }), lax(), 60_000));
      expect(got?.equals(plain), `${length} bytes`).toBe(true);
    }
    const tight = (maxPayload: number): InboundOptions => settings({ maxPayload, pmodeOf: () => ({ ...pmode, encryption: 'optional' }) });
    for (const length of [4_000, 600_000]) {
      const wire = build({ ...open, payloads: [Buffer.alloc(length, 'z')] });
      expect(await refusal(wire, tight(length))).toBe('accepted');
      expect(await refusal(wire, tight(length - 1))).toBe('DECOMPRESSION_FAILED');
    }
  });

  const shaped = (shape: (xml: string) => string): Wire => build({ ...open, plan: { spelling: { shape } } });
  it.each<[string, (xml: string) => string, string]>([
    ['a compressed payload without MimeType', (x) => x.replace(/<eb:Property name="MimeType">[^<]*<\/eb:Property>/, ''), 'VALUE_INCONSISTENT'],
    ['another compression', (x) => x.replace(/(name="CompressionType">)[^<]*/, '$1application/zip'), 'DECOMPRESSION_FAILED'],
    ['two values of CompressionType', (x) => x.replace(/<eb:Property name="CompressionType">[^<]*<\/eb:Property>/, (p) => p + p.replace('gzip', 'zip')), 'VALUE_INCONSISTENT'],
    ['a character set that is none', (x) => x.replace(/<eb:PartProperties>/, '<eb:PartProperties><eb:Property name="CharacterSet">!utf</eb:Property>'), 'VALUE_INCONSISTENT'],
    ['a payload elsewhere', (x) => x.replace(/<eb:PartInfo/, '<eb:PartInfo href="http://127.0.0.1/x"/><eb:PartInfo'), 'EXTERNAL_PAYLOAD'],
  ])('%s', async (_name, shape, code) => {
    expect(await refusal(shaped(shape), lax())).toBe(code);
  });

  it('parts in clear where the P-Mode asks for encryption', async () => {
    expect(await refusal(build(open))).toBe('POLICY_FAILED');
  });

  it('what no P-Mode fits', async () => {
    expect(await refusal(build(), settings({ pmodeOf: () => undefined }))).toBe('PMODE_MISMATCH');
  });

  it('before anything of the body has come: a forged header', async () => {
    const wire = build({ signer: identity('POP000004') });
    const reading = inboundProtocol(settings()).open({ headers: [['Content-Type', wire.contentType]], target: '/' }, LIMITS);
    await expect(reading.push(wire.body.subarray(0, 20_000))).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    expect(reading.early).toBeUndefined();
    expect(reading.answerIn).toMatchObject({ soap: '1.2', messageId: expect.any(String) as string });
  });

  it('other media types', async () => {
    for (const contentType of ['application/json', 'multipart/mixed; boundary=x', '']) {
      await expect(read({ body: Buffer.from('x'), contentType }), contentType).rejects.toMatchObject({ code: 'MEDIA_TYPE' });
    }
  });
});

describe.skipIf(!present)('the endpoint reads what real senders sent (needs ../shared/corpus/live)', () => {
  const live = join(corpus, 'live');
  it.each([
    ['phase4-a-peppol-10k', 'phase4', 'ca.crt.pem'], ['phase4-b-peppol-1m', 'phase4', 'ca.crt.pem'],
    ['holodeck-signenc-gzip-1payload', 'holodeck', 'ca.cert.pem'], ['oxalis-ng-peppol-invoice', 'oxalis', 'ap.cert.pem'],
  ])('%s', async (name, product, anchor) => {
    const expected = JSON.parse(readFileSync(join(live, 'expected.json'), 'utf8')) as Record<string, { contentType: string }>;
    const options = settings({
      keys: keysIn(join(live, 'pki', product)), now: () => Date.UTC(2026, 11, 2),
      pmodeOf: () => ({ ...pmode, party: 'any', trust: { anchors: [certificateIn(join(live, 'pki', product, anchor))] } }),
    });
    const wire = { body: readFileSync(join(live, name, 'request.mime')), contentType: expected[name]?.contentType ?? '' };
    const [payload] = await contents(await read(wire, options, 16_384));
    expect(payload?.length).toBeGreaterThan(100);
  });
});
