import { attribute, child, children } from '../xml/tree.js';
import type { XmlDocument, XmlElement } from '../xml/tree.js';
import { only, present } from './elements.js';
import { NS } from './namespaces.js';
import type { DigestReference, SignatureInfo } from './units.js';

/**
 * Reads the ds:Signature children of the wsse:Security headers, as claims: nothing is verified here. A signature
 * anywhere else (inside a business document, a token, a Receipt) says nothing about this message and is not read.
 */
export function readSignatures(header: XmlElement | undefined, document: XmlDocument): SignatureInfo[] {
  if (header === undefined) return [];
  return children(header, NS.wsse, 'Security')
    .flatMap((security) => children(security, NS.ds, 'Signature'))
    .map((signature) => readSignature(signature, document));
}

function readSignature(element: XmlElement, document: XmlDocument): SignatureInfo {
  const info = only(element, 'SignedInfo', NS.ds);
  return present<SignatureInfo>({
    signatureMethod: algorithm(info, 'SignatureMethod'),
    c14n: algorithm(info, 'CanonicalizationMethod'),
    references: info === undefined ? [] : children(info, NS.ds, 'Reference').map(readReference),
    signatureValue: base64In(only(element, 'SignatureValue', NS.ds)),
    certificate: embeddedCertificate(element, document),
    element,
  });
}

/** One ds:Reference, of a SignedInfo or of a Receipt's NonRepudiationInformation. */
export function readReference(reference: XmlElement): DigestReference {
  return {
    uri: attribute(reference, '', 'URI') ?? '',
    digestMethod: algorithm(reference, 'DigestMethod'),
    digestValue: base64In(only(reference, 'DigestValue', NS.ds)),
  };
}

function algorithm(parent: XmlElement | undefined, local: string): string {
  const element = parent && only(parent, local, NS.ds);
  return (element && attribute(element, '', 'Algorithm')) ?? '';
}

/** All character data below, white space removed. */
function base64In(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  const all = element.children.map((n) => (n.kind === 'element' ? base64In(n) : n.kind === 'text' ? n.value : ''));
  return all.join('').replace(/[ \t\r\n]+/g, '');
}

const PKI_PATH = /#(X509)?PKIPathv1$/;

/**
 * DER of the certificate in the token that ds:KeyInfo refers to: an X509v3 or PKIPath BinarySecurityToken (WSS X.509
 * token profile 1.1, 3.1), or ds:X509Certificate. Undefined where the certificate is only named (SKI, issuer and
 * serial).
 */
function embeddedCertificate(signature: XmlElement, document: XmlDocument): Uint8Array | undefined {
  const keyInfo = child(signature, NS.ds, 'KeyInfo');
  const token = keyInfo && child(keyInfo, NS.wsse, 'SecurityTokenReference');
  const uri = token && child(token, NS.wsse, 'Reference');
  const target = uri && attribute(uri, '', 'URI');
  if (target?.startsWith('#') === true) {
    const found = document.ids.get(target.slice(1));
    if (found?.uri !== NS.wsse || found.local !== 'BinarySecurityToken') return undefined;
    const bytes = Buffer.from(base64In(found), 'base64');
    return PKI_PATH.test(attribute(found, '', 'ValueType') ?? '') ? lastOfSequence(bytes) : bytes;
  }
  const data = (token && child(token, NS.ds, 'X509Data')) ?? (keyInfo && child(keyInfo, NS.ds, 'X509Data'));
  const certificate = data && child(data, NS.ds, 'X509Certificate');
  return certificate && Buffer.from(base64In(certificate), 'base64');
}

/** The last element of a DER SEQUENCE: a PKIPath ends with the signer's own certificate (X.509, 10). */
function lastOfSequence(der: Uint8Array): Uint8Array | undefined {
  const outer = contentOf(der, 0);
  if (der[0] !== 0x30 || outer === undefined) return undefined;
  let last: Uint8Array | undefined;
  for (let at = outer.from; at < outer.to;) {
    const inner = contentOf(der, at);
    if (inner === undefined || inner.to > outer.to) return undefined;
    last = der.subarray(at, inner.to);
    at = inner.to;
  }
  return last;
}

/** Where the content of the DER element at `at` begins and ends. */
function contentOf(der: Uint8Array, at: number): { from: number; to: number } | undefined {
  const first = der[at + 1];
  if (first === undefined) return undefined;
  let length = first;
  let from = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) return undefined;
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (der[from + i] ?? Number.NaN);
    from += count;
  }
  return from + length <= der.length ? { from, to: from + length } : undefined;
}
