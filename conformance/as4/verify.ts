import { X509Certificate } from 'node:crypto';
import { digestOf } from './sign.js';
import type { SignedPart } from './sign.js';
import { strictSignedXml } from './canonical.js';
import { NS, TOKEN } from './names.js';
import { readReferences } from './answer.js';
import type { ReceiptReference } from './answer.js';
import { attributeOf, childrenOf, everyElement, onlyChild, plainText, readXml } from './xml.js';
import type { XmlElement } from './xml.js';

export interface Verified {
  readonly certificate: X509Certificate;
  readonly references: readonly ReceiptReference[];
}

/** Why a signature is not accepted. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified';
}

/**
 * Verifies the one signature of a SOAP message: strict reading first (no DOCTYPE, no processing instruction, unique
 * Ids, one Signature), then xml-crypto over exactly eb:Messaging, Body and the given attachments. The certificate is
 * the BinarySecurityToken the signature names; whether it is trusted is for the caller to judge.
 */
export function verifyEnvelope(envelope: Buffer, parts: readonly SignedPart[] = []): Verified {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(envelope);
  const root = readXml(text);
  const header = onlyChild(root, root.ns, 'Header');
  const security = header === undefined ? [] : childrenOf(header, NS.wsse, 'Security');
  const signature = security.flatMap((element) => childrenOf(element, NS.ds, 'Signature'));
  if (signature.length === 0) throw new NotVerified('there is no signature');
  if (signature.length > 1 || security.length > 1) throw new NotVerified('more than one signature or security header');
  uniqueIds(root);
  const certificate = signerOf(signature[0] as XmlElement, security[0] as XmlElement);
  const information = onlyChild(signature[0], NS.ds, 'SignedInfo');
  if (information === undefined) throw new NotVerified('not exactly one SignedInfo');
  const references = readReferences(information);
  sameSet(references, root, header, security[0] as XmlElement, parts);
  check(text, certificate, parts);
  return { certificate, references };
}

function signerOf(signature: XmlElement, security: XmlElement): X509Certificate {
  const str = onlyChild(onlyChild(signature, NS.ds, 'KeyInfo'), NS.wsse, 'SecurityTokenReference');
  const uri = attributeOf(onlyChild(str, NS.wsse, 'Reference'), '', 'URI');
  const token = childrenOf(security, NS.wsse, 'BinarySecurityToken').find(
    (element) => `#${attributeOf(element, NS.wsu, 'Id') ?? ''}` === uri,
  );
  if (token === undefined) throw new NotVerified('KeyInfo names no BinarySecurityToken of this header');
  if (attributeOf(token, '', 'ValueType') !== TOKEN.x509v3) throw new NotVerified('the token is no X509v3 certificate');
  try {
    return new X509Certificate(Buffer.from((plainText(token) ?? '').replace(/\s+/g, ''), 'base64'));
  } catch {
    throw new NotVerified('the BinarySecurityToken is no certificate');
  }
}

function uniqueIds(root: XmlElement): void {
  const seen = new Set<string>();
  for (const element of everyElement(root)) {
    for (const { ns, local, value } of element.attributes) {
      if (!(/^id$/i.test(local) && (ns === '' || ns === NS.wsu))) continue;
      if (seen.has(value)) throw new NotVerified(`two elements carry the Id ${value}`);
      seen.add(value);
    }
  }
}

/** The signature has to cover what is read, no less, and no more but tokens and time stamps of its own header. */
function sameSet(
  references: readonly ReceiptReference[],
  root: XmlElement,
  header: XmlElement | undefined,
  security: XmlElement,
  parts: readonly SignedPart[],
): void {
  const idOf = (element: XmlElement | undefined, what: string): string => {
    const id = attributeOf(element, NS.wsu, 'Id') ?? attributeOf(element, '', 'id') ?? attributeOf(element, '', 'Id');
    if (id === undefined) throw new NotVerified(`${what} has no Id`);
    return `#${id}`;
  };
  const wanted = new Set([
    idOf(onlyChild(header, NS.eb, 'Messaging'), 'eb:Messaging'),
    idOf(onlyChild(root, root.ns, 'Body'), 'the Body'),
    ...parts.map((part) => `cid:${part.contentId}`),
  ]);
  const got = references.map((reference) => decodeCid(reference.uri));
  const missing = [...wanted].filter((uri) => !got.includes(uri));
  const own = new Set(
    security.children.flatMap((node) =>
      typeof node === 'string' ? [] : [`#${attributeOf(node, NS.wsu, 'Id') ?? ''}`],
    ),
  );
  const extra = got.filter((uri) => !wanted.has(uri) && !own.has(uri));
  if (missing.length > 0) throw new NotVerified(`not signed: ${missing.join(', ')}`);
  if (extra.length > 0) throw new NotVerified(`signed, but not part of the message: ${extra.join(', ')}`);
  if (new Set(got).size !== got.length) throw new NotVerified('something is signed twice');
}

function decodeCid(uri: string): string {
  if (!uri.startsWith('cid:')) return uri;
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

function check(text: string, certificate: X509Certificate, parts: readonly SignedPart[]): void {
  const signed = strictSignedXml({
    idMode: 'wssecurity',
    publicCert: certificate.publicKey,
    getCertFromKeyInfo: () => null,
  });
  const validate = signed.innards.validateReference.bind(signed);
  signed.innards.validateReference = (reference, document) => {
    if (!reference.uri.startsWith('cid:')) return validate(reference, document);
    const part = parts.find(({ contentId }) => `cid:${contentId}` === decodeCid(reference.uri));
    const digest = part === undefined ? undefined : digestOf(part, reference.digestAlgorithm);
    return digest === String(reference.digestValue).replace(/\s+/g, '') ? '' : undefined;
  };
  try {
    const root = signed.innards.parseTransformInput(text, 'message');
    const nodes = signed.findSignatures(root.ownerDocument);
    signed.loadSignature(nodes[0]);
    if (!signed.checkSignature(text)) throw new NotVerified('a digest does not match');
  } catch (error) {
    if (error instanceof NotVerified) throw error;
    throw new NotVerified(error instanceof Error ? error.message.slice(0, 300) : String(error));
  }
}
