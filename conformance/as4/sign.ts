import { createHash, randomUUID } from 'node:crypto';
import type { Identity } from '../keys.js';
import { canonicalDocument, strictSignedXml } from './canonical.js';
import type { DomElement } from './canonical.js';
import { ALGORITHM, NS, TOKEN } from './names.js';
import type { Envelope } from './user-message.js';

/** An attachment as it is signed: after compression, before encryption. */
export interface SignedPart {
  readonly contentId: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** One ds:Reference as it stands in SignedInfo. */
export interface SignedReference {
  readonly uri: string;
  readonly algorithm: string;
  readonly digest: string;
}

export interface SignatureHeader {
  /** BinarySecurityToken and ds:Signature, to stand in wsse:Security. */
  readonly xml: string;
  readonly references: readonly SignedReference[];
}

/**
 * Signs eb:Messaging, the SOAP Body and every attachment (AS4 5.1.4, 5.1.5) with RSA-SHA256 and a
 * BinarySecurityToken. The envelope's own text is not touched: the signature is made on a parsed copy and handed back
 * as text, so that whatever spelling a requirement asks for reaches the wire.
 */
export function signEnvelope(envelope: Envelope, parts: readonly SignedPart[], identity: Identity): SignatureHeader {
  const tokenId = `X509-${randomUUID()}`;
  const reference = `<wsse:SecurityTokenReference xmlns:wsse="${NS.wsse}"><wsse:Reference URI="#${tokenId}" ` +
    `ValueType="${TOKEN.x509v3}"/></wsse:SecurityTokenReference>`;
  const signed = strictSignedXml({
    idMode: 'wssecurity',
    privateKey: identity.key,
    signatureAlgorithm: ALGORITHM.rsaSha256,
    canonicalizationAlgorithm: ALGORITHM.c14n,
    getKeyInfoContent: () => reference,
  });
  for (const path of [`/*/*[local-name(.)='Header']/*[local-name(.)='Messaging']`, `/*/*[local-name(.)='Body']`]) {
    signed.addReference({ xpath: path, transforms: [ALGORITHM.c14n], digestAlgorithm: ALGORITHM.sha256 });
  }
  const cids = parts.map((part) => ({
    uri: `cid:${part.contentId}`,
    algorithm: ALGORITHM.sha256 as string,
    digest: digestOf(part),
  }));
  const add = signed.innards.addAllReferences.bind(signed);
  signed.innards.addAllReferences = (document, signature, targets, prefix) => {
    add(document, signature, targets, prefix);
    for (const cid of cids) signature.firstChild.appendChild(attachmentReference(signature, cid));
  };
  signed.computeSignature(withoutComments(envelope.xml), { prefix: 'ds' });
  const xml = signed.getSignatureXml();
  const token = `<wsse:BinarySecurityToken EncodingType="${TOKEN.base64}" ValueType="${TOKEN.x509v3}" ` +
    `wsu:Id="${tokenId}">${identity.certificate.raw.toString('base64')}</wsse:BinarySecurityToken>`;
  return { xml: token + xml, references: [...readReferences(xml)] };
}

/** The digest of an attachment by SwA 1.1 section 5.4: XML in canonical form, everything else as octets. */
export function digestOf(part: SignedPart, algorithm: string = ALGORITHM.sha256): string {
  const essence = part.mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  const xml = essence === 'text/xml' || essence === 'application/xml' || /^(application|image)\/.+\+xml$/.test(essence);
  const content = xml ? canonicalDocument(part.bytes.toString('utf8')) : part.bytes;
  return createHash(algorithm === ALGORITHM.sha512 ? 'sha512' : 'sha256')
    .update(content)
    .digest('base64');
}

function attachmentReference(signature: DomElement, reference: SignedReference): DomElement {
  const make = (name: string, algorithm?: string): DomElement => {
    const element = signature.ownerDocument.createElementNS(NS.ds, `ds:${name}`);
    if (algorithm !== undefined) element.setAttribute('Algorithm', algorithm);
    return element;
  };
  const element = make('Reference');
  element.setAttribute('URI', reference.uri);
  const transforms = make('Transforms');
  transforms.appendChild(make('Transform', ALGORITHM.attachmentContent));
  const value = make('DigestValue');
  value.textContent = reference.digest;
  for (const child of [transforms, make('DigestMethod', reference.algorithm), value]) element.appendChild(child);
  return element;
}

/** xml-crypto leaves comments in the elements it digests while signing but not while verifying, so they go first. */
function withoutComments(xml: string): string {
  return xml.replace(/<!--[^]*?-->/g, '');
}

function* readReferences(signatureXml: string): Generator<SignedReference> {
  const pattern =
    /<ds:Reference URI="([^"]*)">[^]*?<ds:DigestMethod Algorithm="([^"]*)"\s*\/><ds:DigestValue>([^<]*)</g;
  for (const [, uri = '', algorithm = '', digest = ''] of signatureXml.matchAll(pattern))
    yield { uri, algorithm, digest };
}
