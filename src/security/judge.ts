import { X509Certificate } from 'node:crypto';
import { ExclusiveCanonicalization, SignedXml } from 'xml-crypto';
import { judgedChild, judgedChildren, NotJudged, readJudged, type JudgedElement } from './judge-xml.js';

/**
 * An independent verification: xml-crypto and fast-xml-parser, sharing no code with verify.ts and sign.ts. It is what
 * `as4-once verify` runs and what the start-up self-test has judge our own first Receipt. Slow (milliseconds) and not
 * for traffic. Trust in the certificate is the reader's matter; its subject and serial number are told.
 */
export interface Judgement {
  readonly ok: boolean;
  /** Why not; empty where ok. */
  readonly reason: string;
  /** What was read from the signed bytes of eb:Messaging alone. Absent where not ok. */
  readonly signed?: {
    readonly kind: string;
    readonly messageId: string;
    readonly refToMessageId?: string;
    /** Of a Receipt: what it acknowledges. */
    readonly acknowledged: readonly { readonly uri: string; readonly digest: string }[];
  };
  readonly signer?: { readonly subject: string; readonly serial: string; readonly validTo: string };
  /** `cid:` references, whose attachments are not part of the envelope and were not looked at. */
  readonly unchecked: readonly string[];
}

const DS = 'http://www.w3.org/2000/09/xmldsig#';
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
const WSSE = `${WSS}wssecurity-secext-1.0.xsd`;
const WSU_ID = `{${WSS}wssecurity-utility-1.0.xsd}Id`;
const EB = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
const EBBP = 'http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';

/**
 * Verifies an envelope; `certificate` where the signature does not bring its own, or to insist on one. Never throws.
 */
export function independentlyVerify(envelope: Uint8Array, certificate?: X509Certificate): Judgement {
  const unchecked: string[] = [];
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(envelope);
    const root = readJudged(text);
    const header = judgedChild(root, root.uri, 'Header');
    const signature = judgedChild(judgedChild(header, WSSE, 'Security'), DS, 'Signature');
    uniqueIds(root);
    const embedded = tokenOf(signature, judgedChild(header, WSSE, 'Security'));
    if (certificate !== undefined && embedded !== undefined && !certificate.raw.equals(embedded.raw)) {
      throw new NotJudged('the signature is by another certificate than the one given');
    }
    const signer = certificate ?? embedded;
    if (signer === undefined) throw new NotJudged('the signature brings no certificate; give one');
    coversExactly(signature, root, header, unchecked);
    const verified = check(text, signer).map((canonical) => readJudged(canonical));
    const messaging = verified.find((e) => e.uri === EB && e.local === 'Messaging');
    if (messaging === undefined) throw new NotJudged('eb:Messaging is not signed');
    return {
      ok: true, reason: '', unchecked, signed: unitOf(messaging),
      signer: { subject: signer.subject, serial: signer.serialNumber, validTo: signer.validTo },
    };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message.slice(0, 300) : String(error), unchecked };
  }
}

function idsOf(element: JudgedElement): string[] {
  return [...element.attributes].filter(([name]) => name === WSU_ID || /^id$/i.test(name)).map(([, value]) => value);
}

function uniqueIds(root: JudgedElement): void {
  const seen = new Set<string>();
  const visit = (element: JudgedElement): void => {
    const own = new Set(idsOf(element));
    for (const id of own) {
      if (seen.has(id)) throw new NotJudged(`two elements have the Id ${id.slice(0, 100)}`);
      seen.add(id);
    }
    element.elements.forEach(visit);
  };
  visit(root);
}

function tokenOf(signature: JudgedElement, security: JudgedElement): X509Certificate | undefined {
  const reference = judgedChild(judgedChild(signature, DS, 'KeyInfo'), WSSE, 'SecurityTokenReference');
  const [named] = judgedChildren(reference, WSSE, 'Reference');
  if (named === undefined) return undefined;
  const uri = named.attributes.get('URI');
  const tokens = judgedChildren(security, WSSE, 'BinarySecurityToken');
  const token = tokens.find((t) => `#${t.attributes.get(WSU_ID) ?? ''}` === uri);
  if (token === undefined) throw new NotJudged('KeyInfo names no token of the security header');
  if (token.attributes.get('ValueType')?.endsWith('#X509v3') === false) return undefined;
  return new X509Certificate(Buffer.from(token.text, 'base64'));
}

/**
 * eb:Messaging and Body have to be signed, by the ids that they carry in their places, and nothing else but attachments
 * and what stands in the security header itself.
 */
function coversExactly(
  signature: JudgedElement, root: JudgedElement, header: JudgedElement, unchecked: string[],
): void {
  const beside = judgedChild(header, WSSE, 'Security').elements.filter((e) => e !== signature).flatMap(idsOf).map((id) => `#${id}`);
  const messaging = idsOf(judgedChild(header, EB, 'Messaging')).map((id) => `#${id}`);
  const body = idsOf(judgedChild(root, root.uri, 'Body')).map((id) => `#${id}`);
  const references = judgedChildren(judgedChild(signature, DS, 'SignedInfo'), DS, 'Reference');
  const uris = references.map((r) => r.attributes.get('URI') ?? '');
  for (const uri of uris) {
    if (/^cid:/i.test(uri)) unchecked.push(uri);
    else if (!messaging.includes(uri) && !body.includes(uri) && !beside.includes(uri)) {
      throw new NotJudged(`${uri.slice(0, 100)} is signed, but is neither eb:Messaging nor Body`);
    }
  }
  const once = (ids: readonly string[]): boolean => uris.filter((u) => ids.includes(u)).length === 1;
  if (!once(messaging) || !once(body)) throw new NotJudged('not eb:Messaging and Body are signed, each once');
}

/**
 * Sorts as Canonical XML 1.0 2.2 says; the class of the library sorts prefixes by locale. It also takes an instruction
 * for text.
 */
class CodePointExclusive extends ExclusiveCanonicalization {
  override nsCompare(left: { prefix: string }, right: { prefix: string }): number {
    return Buffer.compare(Buffer.from(left.prefix), Buffer.from(right.prefix));
  }

  override attrCompare(left: Named, right: Named): -1 | 0 | 1 {
    return octets(left.namespaceURI ?? '', right.namespaceURI ?? '') || octets(left.localName, right.localName);
  }
}
interface Named {
  readonly namespaceURI: string | null;
  readonly localName: string;
}
const octets = (left: string, right: string): -1 | 0 | 1 => Buffer.compare(Buffer.from(left), Buffer.from(right));

/** Of the library's methods, those that have no public face: its parser, and the check of one reference. */
interface Innards {
  parseTransformInput(text: string, name: string): { readonly ownerDocument: unknown };
  validateReference(reference: { readonly uri: string }, document: unknown): string | undefined;
}

/** Canonical text of each element that was verified. Throws where anything was not. */
function check(text: string, signer: X509Certificate): string[] {
  const signed = new SignedXml({ idMode: 'wssecurity', publicCert: signer.publicKey, getCertFromKeyInfo: () => null });
  const keep = <T>(table: Record<string, T>, pattern: RegExp): Record<string, T> =>
    Object.fromEntries(Object.entries(table).filter(([name]) => pattern.test(name)));
  signed.CanonicalizationAlgorithms = { [EXCLUSIVE]: CodePointExclusive };
  signed.HashAlgorithms = keep(signed.HashAlgorithms, /#sha(256|512)$/);
  signed.SignatureAlgorithms = keep(signed.SignatureAlgorithms, /#rsa-sha(256|512)$/);
  const innards = signed as unknown as Innards;
  const validate = innards.validateReference.bind(signed);
  innards.validateReference = (reference, document) =>
    (/^cid:/i.test(reference.uri) ? '' : validate(reference, document));
  const [node, ...more] = signed.findSignatures(innards.parseTransformInput(text, 'envelope').ownerDocument);
  if (node === undefined || more.length > 0) throw new NotJudged('not exactly one ds:Signature in the envelope');
  signed.loadSignature(node);
  if (!signed.checkSignature(text)) throw new NotJudged('a digest does not match');
  return signed.getSignedReferences().filter((canonical) => canonical !== '');
}

function unitOf(messaging: JudgedElement): NonNullable<Judgement['signed']> {
  const [unit, ...more] = messaging.elements;
  if (unit === undefined || more.length > 0) throw new NotJudged('eb:Messaging has not exactly one unit');
  const info = judgedChild(unit, EB, 'MessageInfo');
  const [reference] = judgedChildren(info, EB, 'RefToMessageId');
  const [receipt] = judgedChildren(unit, EB, 'Receipt');
  const [nri] = receipt === undefined ? [] : judgedChildren(receipt, EBBP, 'NonRepudiationInformation');
  const acknowledged = nri === undefined ? [] : nri.elements.map((part) => {
    const ref = judgedChild(part, DS, 'Reference');
    const digest = judgedChild(ref, DS, 'DigestValue').text.replace(/\s+/g, '');
    return { uri: ref.attributes.get('URI') ?? '', digest };
  });
  const kind = unit.local === 'UserMessage' ? unit.local : unit.elements.find((e) => e.local !== 'MessageInfo')?.local;
  return {
    kind: kind ?? unit.local, acknowledged, messageId: judgedChild(info, EB, 'MessageId').text,
    ...(reference === undefined ? {} : { refToMessageId: reference.text }),
  };
}
