import { constants, privateDecrypt, publicEncrypt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../conformance/as4/answer.js';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { selfSigned } from '../../src/security/keys.js';
import { resign } from '../security/forge.js';
import { hasSchemas, invalidity } from '../security/oracle.js';
import {
  before, BODY, BST, declared, evil, find, HMAC_SHA1, MESSAGING, otherId, RSA_SHA1, sha1Digests, SIGNATURE, signedBy, withoutId, withToken,
} from '../security/tamper.js';
import { peakRssMiB } from '../../bench/support/load.js';
import { startFront, stopFronts } from '../front/front-process.js';
import { as4Message, type MessageChoices, type TestMessage } from '../support/messages.js';
import { send } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';
import { BOMBS, plain } from './bombs.js';
import { honest, keyFiles, neighbour, receiver, sender, serveEndpoint, signedByUs, stranger, type Served } from './served.js';

/**
 * Bad input as it arrives: over HTTP, at an endpoint that takes signed messages, encrypted or not. Each is refused with
 * its own code, by a signed Error that the schemas find valid; nothing is claimed, nothing delivered, nothing kept; and
 * the id is as free as before.
 */

/** What the sender gets of `code`: HTTP status and ebMS code. */
type Told = readonly [status: number, code: string];
const HEADER: Told = [400, 'EBMS:0009'];
const MIME: Told = [400, 'EBMS:0007'];
const AUTHENTICATION: Told = [200, 'EBMS:0101'];
const DECRYPTION: Told = [200, 'EBMS:0102'];
const POLICY: Told = [200, 'EBMS:0103'];

type Case = readonly [name: string, told: Told, build: (messageId: string) => { readonly body: Buffer; readonly contentType: string }];

const DAY = 86_400_000;
const named = (days: number): Identity => {
  const { certificate, privateKey } = selfSigned('POP000001', { notBefore: Date.now() - 20 * DAY + (days > 0 ? 30 * DAY : 0), days: 10 });
  return { ...sender, certificate: certificate.x509, key: privateKey };
};
const expired = named(-1);
const early = named(1);
const attacker = makeIdentity('POP000001');

let served: Served;
beforeAll(async () => {
  served = await serveEndpoint({
    endpoint: { profile: 'custom', maxPayload: '4MB' }, security: { encryption: 'optional', commonName: true },
    trusted: [expired.certificate, early.certificate], limits: { parts: 200 }, defaults: { resend: 'off' },
  });
});
afterAll(async () => {
  await served.close();
});

const deliveries = (): number => (existsSync(served.deliveries) ? readdirSync(served.deliveries).length : 0);
async function records(): Promise<number> {
  let count = 0;
  for await (const one of served.once.ledger.iterate()) count += Number(one !== undefined);
  return count;
}

/** In clear, so that what tampering finds is the signer's and nothing else. */
const tampered = (tamper: (envelope: string) => string, choices: MessageChoices = {}) => (messageId: string): TestMessage => plain(messageId, { plan: { tamper }, ...choices });
const sealed = (choices: MessageChoices) => (messageId: string): TestMessage => honest({ messageId, payloads: ['<a/>'], ...choices });
const cipher = (change: (bytes: Buffer) => Buffer): MessageChoices => ({ plan: { tamperParts: (all) => all.map((p) => ({ ...p, bytes: change(p.bytes) })) } });
const flipped = (bytes: Buffer, at: number): Buffer => Buffer.concat([bytes.subarray(0, at), Buffer.from([(bytes[at] ?? 0) ^ 1]), bytes.subarray(at + 1)]);
const WRAPPED = /(<xenc:EncryptedKey[^]*?<xenc:CipherValue>)([^<]*)/;
const OAEP = /<xenc:EncryptionMethod Algorithm="http:\/\/www\.w3\.org\/2009\/xmlenc11#rsa-oaep">[^]*?<\/xenc:EncryptionMethod>/;
const rsa15 = (e: string): string => e.replace(OAEP, '<xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#rsa-1_5"/>')
  .replace(WRAPPED, (_m, head: string, value: string) => {
    const key = privateDecrypt({ key: receiver.key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, Buffer.from(value, 'base64'));
    return head + publicEncrypt({ key: receiver.certificate.publicKey, padding: constants.RSA_PKCS1_PADDING }, key).toString('base64');
  });

async function refused([, [status, code], build]: Case): Promise<Answer> {
  const messageId = `${crypto.randomUUID()}@bad.test`;
  const [had, stood] = [deliveries(), await records()];
  const answer = await served.post(build(messageId));
  expect([answer.status, answer.what, answer.errors[0]?.code], JSON.stringify(served.exchanges.at(-1))).toEqual([status, 'error', code]);
  expect(answer.errors).toHaveLength(1);
  expect(answer.errors[0]?.severity).toBe('failure');
  expect([undefined, messageId, 'evil@x']).toContain(answer.errors[0]?.refToMessageInError);
  signedByUs(answer);
  if (hasSchemas) expect(invalidity(answer.envelope ?? Buffer.alloc(0))).toBeUndefined();
  expect([deliveries(), await records()]).toEqual([had, stood]);
  expect((await served.once.load()).spool).toEqual({ memoryBytes: 0, diskBytes: 0 });
  return answer;
}

const schemas = hasSchemas ? '' : ' (not held against the schemas: needs ../shared/xsd)';

describe(`signature wrapping${schemas}`, () => {
  it.each<Case>([
    ['header: the signed one in a wrapper, an evil one in its place', POLICY, tampered((e) => e.replace(MESSAGING, (m) => `${evil(withoutId(m))}<x:w xmlns:x="urn:x">${m}</x:w>`))],
    ['header: the same, the evil one with an Id of its own', POLICY, tampered((e) => e.replace(MESSAGING, (m) => `${evil(otherId(m))}<x:w xmlns:x="urn:x">${m}</x:w>`))],
    ['header: the same with the same Id', HEADER, tampered((e) => e.replace(MESSAGING, (m) => `${evil(m)}<x:w xmlns:x="urn:x">${m}</x:w>`))],
    ['header: the signed one moved into the security header', POLICY, tampered((e) => before(e.replace(MESSAGING, (m) => evil(withoutId(m))), /<\/wsse:Security>/, find(e, MESSAGING)))],
    ['header: the signed one moved into a ds:Object', AUTHENTICATION, tampered((e) => before(e.replace(MESSAGING, (m) => evil(withoutId(m))), /<\/ds:Signature>/, `<ds:Object>${find(e, MESSAGING)}</ds:Object>`))],
    ['Body: the signed one in a wrapper, an evil one in its place', POLICY, tampered((e) => before(e.replace(BODY, (b) => withoutId(b).replace(/\/>$/, '><evil/></S12:Body>')), /<\/\w+:Header>/, `<x:w xmlns:x="urn:x">${find(e, BODY)}</x:w>`))],
    ['BST: the signer\'s moved out of the security header', AUTHENTICATION, tampered((e) => before(e.replace(BST, ''), MESSAGING, declared(find(e, BST))))],
    ['BST: an evil one in its place', AUTHENTICATION, tampered((e) => before(e.replace(BST, (b) => otherId(b)), MESSAGING, declared(find(e, BST))))],
    ['BST: an evil one with the same Id', HEADER, tampered((e) => before(e, BST, find(e, BST)))],
    ['an unsigned UserMessage beside the signed one', HEADER, tampered((e) => e.replace(/<eb:UserMessage[^]*<\/eb:UserMessage>/, (u) => u + evil(u)))],
    ['an unsigned eb:Messaging beside the signed one', HEADER, tampered((e) => before(e, MESSAGING, evil(withoutId(find(e, MESSAGING)))))],
    ['duplicate Ids', HEADER, tampered((e) => e.replace(/<\/\w+:Header>/, (end) => `<x:w xmlns:x="urn:x" Id="${/wsu:Id="([^"]*)"/.exec(find(e, MESSAGING))?.[1] ?? ''}"/>${end}`))],
    ['two signatures', AUTHENTICATION, tampered((e) => e.replace(SIGNATURE, (s) => s + s.replace(/ Id="[^"]*"/g, '')))],
    ['no signature', POLICY, tampered((e) => e.replace(SIGNATURE, ''))],
  ])('%s', async (...one) => {
    await refused(one);
  });
});

describe('text that one reader sees and another does not', () => {
  it.each<Case>([
    ['processing instruction in MessageId', HEADER, tampered((e) => e.replace(/<eb:MessageId>/, '<eb:MessageId><?p ID?>'))],
    ['comment in MessageId', HEADER, tampered((e) => e.replace(/<eb:MessageId>(.)/, '<eb:MessageId>$1<!-- x -->'))],
    ['processing instruction in DigestValue', HEADER, tampered((e) => e.replace(/<ds:DigestValue>/, '<ds:DigestValue><?p ID?>'))],
    ['comment in DigestValue', AUTHENTICATION, tampered((e) => e.replace(/<ds:DigestValue>(.)/, '<ds:DigestValue>$1<!-- x -->'))],
    ['entity: DOCTYPE with an internal one', HEADER, tampered((e) => `<!DOCTYPE a [<!ENTITY x "y">]>${e.replace(/^<\?xml[^>]*>/, '')}`)],
    ['entity: DOCTYPE with an external one', HEADER, tampered((e) => `<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x.dtd">${e.replace(/^<\?xml[^>]*>/, '')}`)],
    ['entity: one that nobody declared', HEADER, tampered((e) => e.replace(/<eb:MessageId>/, '<eb:MessageId>&x;'))],
    ['entity: a character that XML does not have', HEADER, tampered((e) => e.replace(/<eb:MessageId>/, '<eb:MessageId>&#0;'))],
  ])('%s', async (...one) => {
    await refused(one);
  });
});

describe('headers that lack what the schema demands', () => {
  it.each([
    ['From', /<eb:From>[^]*<\/eb:From>/], ['To', /<eb:To>[^]*<\/eb:To>/], ['the sender\'s Role', /<eb:Role>[^<]*<\/eb:Role>/],
    ['Service', /<eb:Service[^]*<\/eb:Service>/], ['Action', /<eb:Action>[^<]*<\/eb:Action>/], ['Timestamp', /<eb:Timestamp>[^<]*<\/eb:Timestamp>/],
    ['MessageId', /<eb:MessageId>[^<]*<\/eb:MessageId>/], ['CollaborationInfo', /<eb:CollaborationInfo>[^]*<\/eb:CollaborationInfo>/],
  ])('no %s, though signed', async (name, element) => {
    const shape = (xml: string): string => xml.replace(find(xml, element), '');
    await refused([name, HEADER, (messageId) => plain(messageId, { plan: { spelling: { shape } } })]);
  });
});

describe('algorithms and references', () => {
  it.each<Case>([
    ['decoy SignatureMethod before SignedInfo', AUTHENTICATION, tampered((e) => before(e, /<ds:SignedInfo/, `<ds:SignatureMethod Algorithm="${HMAC_SHA1}"/>`))],
    ['decoy SignatureMethod behind the true one', HEADER, tampered((e) => resign(e.replace(/<ds:SignatureMethod[^>]*\/>/, (m) => `${m}<ds:SignatureMethod Algorithm="${RSA_SHA1}"/>`), sender.key))],
    ['downgrade: a SHA-1 signature', POLICY, tampered((e) => resign(signedBy(e, RSA_SHA1), sender.key, 'sha1'))],
    ['downgrade: SHA-1 digests', POLICY, tampered((e) => resign(sha1Digests(e), sender.key), { bare: true, payloads: [] })],
    ['downgrade: RSA 1.5 key transport', POLICY, sealed({ plan: { tamper: rsa15 } })],
    ['key confusion: HMAC keyed with the signer\'s public key', POLICY, tampered((e) => resign(signedBy(e, HMAC_SHA1), sender.key, 'sha1', Buffer.from(sender.certificate.publicKey.export({ type: 'spki', format: 'pem' }))))],
    ['key confusion: a bare KeyValue', AUTHENTICATION, tampered((e) => e.replace(/<ds:KeyInfo>[^]*<\/ds:KeyInfo>/, '<ds:KeyInfo><ds:KeyValue/></ds:KeyInfo>'))],
    ['key confusion: the receiver\'s certificate for the signer\'s', AUTHENTICATION, tampered((e) => withToken(e, receiver.certificate))],
    ['a cid: that is signed and no PartInfo', POLICY, tampered((e) => resign(e.replace(/<eb:PayloadInfo>[^]*<\/eb:PayloadInfo>/, ''), sender.key))],
    ['a PartInfo whose cid: is not signed', POLICY, tampered((e) => resign(e.replace(/<ds:Reference URI="cid:[^]*?<\/ds:Reference>/, ''), sender.key))],
    ['a cid: outside the package', MIME, (messageId) => plain(messageId, { plan: { tamperParts: () => [] } })],
  ])('%s', async (...one) => {
    await refused(one);
  });
});

describe('whose certificate it is', () => {
  it.each<Case>([
    ['an expired one', AUTHENTICATION, (messageId) => plain(messageId, { signer: expired })],
    ['one that is not valid yet', AUTHENTICATION, (messageId) => plain(messageId, { signer: early })],
    ['an untrusted one', AUTHENTICATION, (messageId) => plain(messageId, { signer: stranger })],
    ['a self-made one of the partner\'s name', AUTHENTICATION, (messageId) => plain(messageId, { signer: attacker })],
    ['the partner\'s own, with another key', AUTHENTICATION, tampered((e) => resign(e, attacker.key))],
    ['a trusted neighbour\'s', AUTHENTICATION, (messageId) => plain(messageId, { signer: neighbour })],
  ])('%s', async (...one) => {
    await refused(one);
  });
});

describe('decryption', () => {
  const failures: Case[] = [
    ['GCM tag cut', DECRYPTION, sealed(cipher((b) => b.subarray(0, -3)))],
    ['GCM tag cut off', DECRYPTION, sealed(cipher((b) => b.subarray(0, -16)))],
    ['GCM tag changed', DECRYPTION, sealed(cipher((b) => flipped(b, b.length - 1)))],
    ['cipher text changed', DECRYPTION, sealed(cipher((b) => flipped(b, 14)))],
    ['IV changed', DECRYPTION, sealed(cipher((b) => flipped(b, 0)))],
    ['nothing but half an IV', DECRYPTION, sealed(cipher((b) => b.subarray(0, 6)))],
    ['empty part', DECRYPTION, sealed(cipher(() => Buffer.alloc(0)))],
    ['encrypted for somebody else', DECRYPTION, sealed({ receiver: neighbour.certificate })],
    ['wrapped key damaged', DECRYPTION, sealed({ plan: { tamper: (e) => e.replace(WRAPPED, (_m, head: string, value: string) => head + flipped(Buffer.from(value, 'base64'), 9).toString('base64')) } })],
    ['wrapped key of another length', DECRYPTION, sealed({ plan: { tamper: (e) => e.replace(WRAPPED, (_m, head: string) =>
      head + publicEncrypt({ key: receiver.certificate.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, Buffer.alloc(24)).toString('base64')) } })],
  ];
  it.each(failures)('%s', async (...one) => {
    await refused(one);
  });

  it('all failures look alike to whoever sent them', async () => {
    const seen = new Set<string>();
    for (const one of failures) {
      const { status, contentType, soap, errors, body } = await refused(one);
      // what differs by nature: ids, the time, and the digests and signature over them
      const text = body.toString().replace(/[\w.-]+@(as4-once|bad\.test)/g, 'ID').replace(/<eb:Timestamp>[^<]*/, 'T').replace(/<ds:(DigestValue|SignatureValue)>[^<]*/g, 'B');
      seen.add(JSON.stringify([status, contentType, soap, errors[0]?.shortDescription, errors[0]?.detail, text]));
    }
    expect([...seen]).toHaveLength(1);
  });
});

describe('bombs', () => {
  it.each(BOMBS)('$name', async ({ name, told, build }) => {
    await refused([name, told, build]);
  });

  it('what is no gzip', async () => {
    await refused(['', [200, 'EBMS:0303'], (messageId) => plain(messageId, { plan: { compressor: () => Buffer.from('no gzip') } as never })]);
  });

  // what they cost in CPU is in `npm run bench -- endpoint`
  it('take no memory to speak of, four of each at once', async () => {
    const folder = tempDir('bombs');
    const { certificate, key, trust } = keyFiles(folder.path);
    const endpoint = await startFront({
      role: 'endpoint', accessPoint: undefined, ledger: { embedded: join(folder.path, 'ledger') }, limits: { parts: 200 },
      endpoint: { profile: 'custom', maxPayload: '4MB', keys: { certificate, key }, backend: { directory: join(folder.path, 'deliveries') } },
      security: { trust, encryption: 'optional', commonName: true },
    });
    try {
      // until the heap has its working size: Node 24 lets it grow by 100 MiB first, whoever sends
      for (let i = 0; i < 75; i++) await Promise.all([0, 1, 2, 3].map((n) => send(endpoint.url, plain(`warm-${i}-${n}@bad.test`))));
      const before = peakRssMiB(endpoint.process.pid);
      for (const { name, build, told } of BOMBS) {
        const statuses = await Promise.all([0, 1, 2, 3].map(async (i) => {
          const { body, contentType } = build(`${name.length}-${i}@bad.test`);
          // who is refused early is hung up on, and may not have read the answer
          return await send(endpoint.url, { body, headers: { 'content-type': contentType } }).then(({ status }) => status, () => told[0]);
        }));
        expect(new Set(statuses)).toEqual(new Set([told[0]]));
      }
      expect(peakRssMiB(endpoint.process.pid) - before).toBeLessThan(150);
    } finally {
      await stopFronts();
      folder.remove();
    }
  });
});

describe('behind all of it', () => {
  it('the id of a forged or damaged copy is as free as before', async () => {
    const messageId = 'wanted@bad.test';
    for (const bad of [plain(messageId, { signer: attacker }), honest({ messageId, ...cipher((b) => flipped(b, 14)) }), plain(messageId, { payloads: [Buffer.alloc(60_000_000)] })]) {
      expect((await served.post(bad)).what).toBe('error');
    }
    expect((await served.post(plain(messageId))).what).toBe('receipt');
    expect(served.exchanges.at(-1)).toMatchObject({ answer: 'first', outcome: 'accepted' });
    // and a settled one gives its Receipt to nobody who cannot sign
    expect((await served.post(plain(messageId, { signer: attacker }))).what).toBe('error');
    expect((await served.post(plain(messageId))).what).toBe('receipt');
  });

  it('SHA-1 and RSA 1.5 are taken where the P-Mode says so', async () => {
    const lax = await serveEndpoint({ endpoint: { profile: 'custom' }, security: { encryption: 'optional', allow: ['sha1', 'rsa15'] } });
    try {
      const old = as4Message({ signer: sender, bare: true, plan: { tamper: (e) => resign(signedBy(sha1Digests(e), RSA_SHA1), sender.key, 'sha1') } });
      expect((await lax.post(old)).what).toBe('receipt');
      expect((await lax.post(honest({ plan: { tamper: rsa15 } }))).what).toBe('receipt');
    } finally {
      await lax.close();
    }
  });
});
