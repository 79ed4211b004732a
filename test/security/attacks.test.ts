import { describe, expect, it } from 'vitest';
import { makeIdentity } from '../../conformance/keys.js';
import { LEGACY, TOKEN } from '../../src/security/algorithms.js';
import { independentlyVerify } from '../../src/security/judge.js';
import { selfSigned } from '../../src/security/keys.js';
import { verifyEnvelope } from '../../src/security/verify.js';
import { as4Message, identity } from '../support/messages.js';
import { open } from './corpus.js';
import { now, options, ours, outcome, resign, sender } from './forge.js';
import {
  before, BODY, BST, declared, evil, find, HMAC_SHA1, MESSAGING, otherId, REFERENCE, RSA_SHA1, sha1Digests, SIGNATURE, signedBy, withoutId, withToken,
} from './tamper.js';

/** What issue and literature know against signed SOAP: each has to be refused, with its reason. */

const attacker = makeIdentity('POP000001');
const partner = identity('POP000009');

describe('an honest message', () => {
  it('is accepted', () => {
    expect(outcome((e) => e)).toBe('ok');
    expect(outcome((e) => e, { soap: '1.1' })).toBe('ok');
    expect(outcome((e) => resign(e, sender.key))).toBe('ok');
  });
});

describe('signature wrapping', () => {
  it.each<[string, (e: string) => string, string[]]>([
    ['Messaging moved into a wrapper in the Header, an evil one in its place', (e) => e.replace(MESSAGING, (m) => `${evil(withoutId(m))}<x:w xmlns:x="urn:x">${m}</x:w>`), ['referenceSet']],
    ['the same with another Id', (e) => e.replace(MESSAGING, (m) => `${evil(otherId(m))}<x:w xmlns:x="urn:x">${m}</x:w>`), ['referenceSet']],
    ['the same with the same Id', (e) => e.replace(MESSAGING, (m) => `${evil(m)}<x:w xmlns:x="urn:x">${m}</x:w>`), ['DUPLICATE_ID']],
    ['Messaging moved into the Body', (e) => before(e.replace(MESSAGING, (m) => evil(withoutId(m))), /<\/\w+:Envelope>/, '').replace(/<(\w+):Body([^>]*?)\/?>(?:<\/\1:Body>)?/, (_m, p: string, a: string) => `<${p}:Body${a}>${find(e, MESSAGING)}</${p}:Body>`), ['referenceSet', 'digest']],
    ['Messaging moved into the security header', (e) => before(e.replace(MESSAGING, (m) => evil(withoutId(m))), /<\/wsse:Security>/, find(e, MESSAGING)), ['referenceSet']],
    ['Messaging moved into a ds:Object', (e) => before(e.replace(MESSAGING, (m) => evil(withoutId(m))), /<\/ds:Signature>/, `<ds:Object>${find(e, MESSAGING)}</ds:Object>`), ['malformed']],
    ['Body moved into a wrapper, an evil one in its place', (e) => before(e.replace(BODY, (b) => withoutId(b).replace(/\/>$/, '><evil/></S12:Body>')), /<\/\w+:Header>/, `<x:w xmlns:x="urn:x">${find(e, BODY)}</x:w>`), ['referenceSet']],
    ['a second eb:Messaging beside the signed one', (e) => before(e, MESSAGING, evil(withoutId(find(e, MESSAGING)))), ['HEADER_INVALID']],
    ['a second UserMessage beside the signed one', (e) => e.replace(/<eb:UserMessage[^]*<\/eb:UserMessage>/, (u) => u + evil(u)), ['HEADER_INVALID']],
    ['a signed Messaging addressed to another prefix of the same name', (e) => e.replace(MESSAGING, (m) => `<y:Messaging xmlns:y="urn:y">${m}</y:Messaging>`), ['referenceSet', 'malformed']],
    ['two security headers', (e) => before(e, /<wsse:Security/, find(e, /<wsse:Security[^>]*>/).replace(/>$/, '/>')), ['severalSignatures']],
    ['two signatures', (e) => e.replace(SIGNATURE, (s) => s + s.replace(/ Id="[^"]*"/g, '')), ['severalSignatures']],
    ['the signature outside the security header', (e) => before(e.replace(SIGNATURE, ''), MESSAGING, find(e, SIGNATURE)), ['unsigned']],
    ['no signature at all', (e) => e.replace(SIGNATURE, ''), ['unsigned']],
    ['the token moved out of the security header', (e) => before(e.replace(BST, ''), MESSAGING, declared(find(e, BST))), ['token']],
    ['an evil token in its place', (e) => before(e.replace(BST, (b) => otherId(b)), MESSAGING, declared(find(e, BST))), ['token']],
    ['an evil token with the same Id', (e) => before(e, BST, find(e, BST)), ['DUPLICATE_ID']],
  ])('%s', (_name, tamper, reasons) => {
    expect(reasons).toContain(outcome(tamper));
  });
});

/** Something in the security header, signed beside the message, as AS4's own samples (appendix A) sign the Timestamp. */
const WSU = 'xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"';
const STAMP = `<wsu:Timestamp ${WSU} wsu:Id="stamp"><wsu:Created>2026-01-01T00:00:00Z</wsu:Created></wsu:Timestamp>`;
const CONFIRMATION = `<b:SignatureConfirmation xmlns:b="http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd" ${WSU} wsu:Id="confirmation"/>`;
const referTo = (e: string, id: string): string => e.replace(/<\/ds:SignedInfo>/, (end) =>
  `${find(e, REFERENCE).replace(/URI="[^"]*"/, `URI="#${id}"`).replace(/<ds:DigestValue>[^<]*/, `<ds:DigestValue>for ${id}`)}${end}`);
const inSecurity = (e: string, what: string): string => before(e, /<wsse:BinarySecurityToken/, what);

describe('what the security header says of itself', () => {
  it.each<[string, (e: string) => string, string]>([
    ['a signed Timestamp (it was refused once, with the samples of the standard)', (e) => resign(referTo(inSecurity(e, STAMP), 'stamp'), sender.key), 'ok'],
    ['a signed SignatureConfirmation', (e) => resign(referTo(inSecurity(e, CONFIRMATION), 'confirmation'), sender.key), 'ok'],
    ['its own token, signed', (e) => resign(referTo(e, /wsu:Id="([^"]*)"/.exec(find(e, BST))?.[1] ?? ''), sender.key), 'ok'],
    ['a Timestamp that nobody signed', (e) => inSecurity(e, STAMP), 'ok'],
    ['a signed Timestamp that was changed', (e) => resign(referTo(inSecurity(e, STAMP), 'stamp'), sender.key).replace('2026-01-01T', '2027-01-01T'), 'digest'],
    ['a Timestamp signed twice', (e) => resign(referTo(referTo(inSecurity(e, STAMP), 'stamp'), 'stamp'), sender.key), 'referenceSet'],
    ['a signed Timestamp elsewhere', (e) => resign(referTo(before(e, MESSAGING, STAMP), 'stamp'), sender.key), 'referenceSet'],
    ['something else of the header, signed', (e) => resign(referTo(inSecurity(e, `<x:y xmlns:x="urn:x" ${WSU} wsu:Id="y"/>`), 'y'), sender.key), 'referenceSet'],
    ['a Timestamp signed in place of the Body', (e) => resign(inSecurity(e, STAMP).replace(/URI="#[^"]*body[^"]*"/i, 'URI="#stamp"'), sender.key), 'referenceSet'],
  ])('%s', (_name, tamper, reason) => {
    expect(outcome(tamper)).toBe(reason);
  });

  it('is known to the second implementation too, behind as4-once verify', () => {
    const judged = (tamper: (e: string) => string): boolean =>
      independentlyVerify(as4Message({ bare: true, signer: sender, plan: { tamper } }).body).ok;
    const stamped = (e: string): string => referTo(inSecurity(e, STAMP), 'stamp');
    expect(judged((e) => e)).toBe(true);
    expect(judged((e) => resign(stamped(e), sender.key))).toBe(true);
    expect(judged((e) => resign(stamped(e), sender.key).replace('2026-01-01T', '2027-01-01T'))).toBe(false);
    expect(judged((e) => resign(referTo(before(e, MESSAGING, STAMP), 'stamp'), sender.key))).toBe(false);
    expect(judged((e) => resign(inSecurity(e, STAMP).replace(/URI="#[^"]*body[^"]*"/i, 'URI="#stamp"'), sender.key))).toBe(false);
  });

  it('is signed by a certificate that was renewed with its key, while both are configured', () => {
    const old = selfSigned('POP000001', { notBefore: now - 20 * 86_400_000, days: 10 });
    const next = selfSigned('POP000001', { renews: old });
    const other = selfSigned('POP000009', { renews: old });
    const named = (e: string): string => resign(e.replace(BST, '').replace(/<wsse:Reference [^>]*(\/>|>[^<]*<\/wsse:Reference>)/,
      `<wsse:KeyIdentifier ValueType="${TOKEN.keyIdentifier}">${old.certificate.keyIdentifier}</wsse:KeyIdentifier>`), old.privateKey);
    const believing = (...anchors: typeof old[]): string => outcome(named, {}, { trust: { anchors: anchors.map((i) => i.certificate) } });
    expect(believing(next)).toBe('ok');
    expect(believing(old, next)).toBe('ok');
    expect(believing(other, old, next), 'the name decides among them').toBe('ok');
    expect(believing(old)).toBe('expired');
    expect(believing(other, old)).toBe('party');
  });

  it('is for us, or not looked at (WS-Security 1.1, 5: one header for each role)', () => {
    const role = (e: string, value: string): string => e.replace(/<wsse:Security /, `<wsse:Security S12:role="${value}" `);
    const another = (e: string): string => before(e, /<wsse:Security/, role(find(e, /<wsse:Security[^>]*>/).replace(/>$/, '/>'), 'ebms'));
    expect(outcome(another)).toBe('ok');
    expect(outcome((e) => role(e, 'urn:other'))).toBe('unsigned');
    expect(outcome((e) => role(e, 'http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver'))).toBe('ok');
    expect(outcome((e) => role(e, 'ebms'))).toBe('unsigned');
  });
});

describe('text that one reader sees and another does not', () => {
  it.each<[string, (e: string) => string, string]>([
    ['processing instruction in MessageId', (e) => e.replace(/<eb:MessageId>/, '<eb:MessageId><?p ID?>'), 'XML_FORBIDDEN'],
    ['processing instruction in DigestValue', (e) => e.replace(/<ds:DigestValue>/, '<ds:DigestValue><?p ID?>'), 'XML_FORBIDDEN'],
    ['comment in MessageId', (e) => e.replace(/<eb:MessageId>(.)/, '<eb:MessageId>$1<!-- x -->'), 'comment'],
    ['comment in DigestValue', (e) => e.replace(/<ds:DigestValue>(.)/, '<ds:DigestValue>$1<!-- x -->'), 'malformed'],
    ['comment in SignatureValue', (e) => e.replace(/<ds:SignatureValue>(.)/, '<ds:SignatureValue>$1<!-- x -->'), 'signatureValue'],
    ['comment in SignedInfo', (e) => e.replace(/<ds:CanonicalizationMethod/, '<!-- x --><ds:CanonicalizationMethod'), 'comment'],
    ['element in MessageId', (e) => e.replace(/<eb:MessageId>/, '<eb:MessageId><x/>'), 'MESSAGE_ID_INVALID'],
    ['DOCTYPE with an entity', (e) => `<!DOCTYPE a [<!ENTITY x "y">]>${e.replace(/^<\?xml[^>]*>/, '')}`, 'XML_FORBIDDEN'],
    ['entity that nobody declared', (e) => e.replace(/<eb:MessageId>/, '<eb:MessageId>&x;'), 'XML_BROKEN'],
    ['changed MessageId', (e) => e.replace(/<eb:MessageId>/, '<eb:MessageId>1'), 'digest'],
    ['changed Body', (e) => e.replace(/<(\w+):Body([^>]*?)\/?>(?:<\/\1:Body>)?/, '<$1:Body$2><x/></$1:Body>'), 'digest'],
    ['changed SignatureValue', (e) => e.replace(/<ds:SignatureValue>(.)(.)/, (_m, a: string, b: string) => `<ds:SignatureValue>${b}${a}`), 'signatureValue'],
    ['no SignatureValue', (e) => e.replace(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>'), 'signatureValue'],
  ])('%s', (_name, tamper, reason) => {
    expect(outcome(tamper)).toBe(reason);
  });
});

describe('SignedInfo of a forger, or of a partner with a bad product', () => {
  const bare = { bare: true } as const;

  it.each<[string, (e: string) => string, string]>([
    ['decoy SignatureMethod before SignedInfo', (e) => before(e, /<ds:SignedInfo/, '<ds:SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1"/>'), 'malformed'],
    ['decoy SignedInfo', (e) => e.replace(/<ds:SignedInfo[^]*<\/ds:SignedInfo>/, (s) => s + s), 'HEADER_INVALID'],
    ['SHA-1 signature', (e) => resign(signedBy(e, RSA_SHA1), sender.key, 'sha1'), 'algorithm'],
    ['SHA-1 digests', (e) => resign(sha1Digests(e), sender.key), 'algorithm'],
    ['HMAC keyed with the public key', (e) => resign(signedBy(e, HMAC_SHA1), sender.key, 'sha1', Buffer.from(sender.certificate.publicKey.export({ type: 'spki', format: 'pem' }))), 'algorithm'],
    ['inclusive canonical form', (e) => e.replace(/(<ds:CanonicalizationMethod Algorithm=")[^"]*/, '$1http://www.w3.org/TR/2001/REC-xml-c14n-20010315'), 'algorithm'],
    ['XSLT transform', (e) => e.replace(/(<ds:Transform Algorithm=")[^"]*/, '$1http://www.w3.org/TR/1999/REC-xslt-19991116'), 'algorithm'],
    ['XPath filter', (e) => e.replace(/(<ds:Transform Algorithm=")[^"]*/, '$1http://www.w3.org/2002/06/xmldsig-filter2'), 'algorithm'],
    ['enveloped signature transform', (e) => e.replace(/(<ds:Transform Algorithm=")[^"]*/, '$1http://www.w3.org/2000/09/xmldsig#enveloped-signature'), 'algorithm'],
    ['two transforms', (e) => e.replace(/<ds:Transform [^]*?(\/>|<\/ds:Transform>)/, (t) => t + t), 'malformed'],
    ['no transform', (e) => e.replace(/<ds:Transforms>[^]*?<\/ds:Transforms>/, ''), 'malformed'],
    ['reference to the whole document', (e) => e.replace(/(<ds:Reference URI=")[^"]*/, '$1'), 'dangling'],
    ['XPointer reference', (e) => e.replace(/(<ds:Reference URI=")[^"]*/, '$1#xpointer(/)'), 'dangling'],
    ['reference to an Id that is not there', (e) => e.replace(/(<ds:Reference URI=")[^"]*/, '$1#nobody'), 'dangling'],
    ['external reference', (e) => e.replace(/(<ds:Reference URI=")[^"]*/, '$1http://127.0.0.1/'), 'dangling'],
    ['a reference less: Messaging unsigned', (e) => resign(e.replace(REFERENCE, ''), sender.key), 'referenceSet'],
    ['a reference twice', (e) => resign(e.replace(REFERENCE, (r) => r + r).replace(/(<ds:Reference URI="cid:)[^]*?<\/ds:Reference>/, ''), sender.key), 'referenceSet'],
    ['10,000 references', (e) => e.replace(REFERENCE, (r) => r + '<ds:Reference URI="#a"/>'.repeat(10_000)), 'referenceSet'],
    ['10,000 whole references', (e) => e.replace(REFERENCE, (r) => r.repeat(10_000)), 'ROOT_TOO_LARGE'],
    ['KeyValue instead of a certificate', (e) => e.replace(/<ds:KeyInfo>[^]*<\/ds:KeyInfo>/, '<ds:KeyInfo><ds:KeyValue/></ds:KeyInfo>'), 'token'],
    ['no KeyInfo', (e) => e.replace(/<ds:KeyInfo>[^]*<\/ds:KeyInfo>/, ''), 'malformed'],
  ])('%s', (_name, tamper, reason) => {
    expect(outcome(tamper, bare)).toBe(reason);
  });

  it('SHA-1 is accepted where a P-Mode says so', () => {
    expect(outcome((e) => resign(signedBy(sha1Digests(e), RSA_SHA1), sender.key, 'sha1'), bare, { algorithms: LEGACY })).toBe('ok');
  });

  it('an attachment outside the reference set', () => {
    const leaveOut = (e: string): string => resign(e.replace(/<ds:Reference URI="cid:[^]*?<\/ds:Reference>/, ''), sender.key);
    expect(outcome(leaveOut)).toBe('referenceSet');
  });

  it('a reference to an attachment that is no PartInfo', () => {
    const extra = (e: string): string => resign(e.replace(/<eb:PayloadInfo>[^]*<\/eb:PayloadInfo>/, ''), sender.key);
    expect(outcome(extra)).toBe('referenceSet');
  });

  it('the same attachment in two PartInfos', () => {
    const twice = (e: string): string => resign(e.replace(/<eb:PartInfo[^]*<\/eb:PartInfo>/, (p) => p + p), sender.key);
    expect(outcome(twice)).toBe('referenceSet');
  });
});

describe('whose key it is', () => {
  it.each<[string, string, (e: string) => string, Parameters<typeof options>[0]]>([
    ['a self-made certificate of the same name', 'untrusted', (e) => resign(withToken(e, attacker.certificate), attacker.key), {}],
    ['the partner\'s certificate, signed with another key', 'signatureValue', (e) => resign(e, attacker.key), {}],
    ['another trusted partner under this name', 'party', (e) => resign(withToken(e, partner.certificate), partner.key), { trust: { anchors: [sender, partner].map((i) => ours(i).certificate) } }],
    ['another trusted partner where the P-Mode does not compare names', 'ok', (e) => resign(withToken(e, partner.certificate), partner.key), { trust: { anchors: [ours(partner).certificate] }, party: 'any' }],
    ['an expired certificate', 'expired', (e) => e, { now: now + 4_000 * 86_400_000 }],
    ['a certificate that is not yet valid', 'notYetValid', (e) => e, { now: now - 2 * 86_400_000 }],
    ['junk for a certificate', 'token', (e) => withToken(e, { raw: Buffer.from('junk') }), {}],
  ])('%s: %s', (_name, reason, tamper, more) => {
    expect(outcome(tamper, {}, more)).toBe(reason);
  });

  it('a certificate with a key that is too short', () => {
    const weak = makeIdentity('POP000001', { bits: 1_024 });
    const trust = { anchors: [ours(weak).certificate] };
    expect(outcome((e) => e, { signer: weak }, { trust })).toBe('weakKey');
    expect(outcome((e) => e, { signer: weak }, { trust, algorithms: LEGACY })).toBe('ok');
  });

  it('a certificate that may sign certificates but no messages', () => {
    const ca = selfSigned('POP000001', { authority: true });
    const signer = { ...sender, certificate: ca.certificate.x509, key: ca.privateKey };
    expect(outcome((e) => e, { signer }, { trust: { anchors: [ca.certificate] } })).toBe('untrusted');
  });

  it('a refusal says nothing that is not in the message or the configuration', () => {
    const message = as4Message({ signer: attacker });
    const answer = verifyEnvelope(open(message.body, message.contentType).envelope, options());
    expect(answer).toMatchObject({ ok: false, reason: 'untrusted', code: 'AUTHENTICATION_FAILED', detail: 'no path from CN=pop000001 to a trust anchor' });
  });
});
