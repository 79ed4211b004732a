import { createHash, verify, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { XmlC14NMode, XmlDocument, XmlElement, XsdValidator } from 'libxml2-wasm';
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs';
import { shared } from './corpus.js';

/** libxml2's opinion of what we write: its schema validation, and its canonical form with node:crypto's arithmetic. */

let validator: XsdValidator | undefined;

function schema(): XsdValidator {
  if (validator === undefined) {
    xmlRegisterFsInputProviders();
    const file = resolve(shared, 'xsd/all.xsd');
    validator = XsdValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(file), { url: file }));
  }
  return validator;
}

/** Undefined where the envelope is valid against the schemas of SOAP, ebMS, ebBP and XML Signature; otherwise why not. */
export function invalidity(envelope: Uint8Array): string | undefined {
  const document = XmlDocument.fromBuffer(envelope);
  try {
    schema().validate(document);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    document.dispose();
  }
}

export const hasSchemas = ((): boolean => {
  try {
    readFileSync(join(shared, 'xsd/all.xsd'));
    return true;
  } catch {
    return false;
  }
})();

const NAMESPACES = {
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  ec: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  wsse: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  wsu: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
};

/** Verifies every `#` reference and the SignatureValue with libxml2's canonical form; a string says what is wrong. */
export function libxml2Verdict(envelope: Uint8Array): string | undefined {
  const document = XmlDocument.fromBuffer(envelope);
  try {
    const one = (from: XmlElement, path: string): XmlElement => {
      const found = from.get(path, NAMESPACES);
      if (!(found instanceof XmlElement)) throw new Error(`no ${path}`);
      return found;
    };
    const canonical = (element: XmlElement, method: XmlElement): string => {
      const list = method.get('ec:InclusiveNamespaces/@PrefixList', NAMESPACES)?.content.split(' ') ?? [];
      return element.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0, inclusiveNamespacePrefixes: list });
    };
    const root = document.root;
    for (const reference of root.find('//ds:SignedInfo/ds:Reference', NAMESPACES)) {
      if (!(reference instanceof XmlElement)) continue;
      const uri = reference.attr('URI')?.value ?? '';
      if (!uri.startsWith('#')) continue;
      const target = one(root, `//*[@wsu:Id='${uri.slice(1)}']`);
      const digest = createHash('sha256').update(canonical(target, one(reference, 'ds:Transforms/ds:Transform'))).digest('base64');
      if (digest !== one(reference, 'ds:DigestValue').content) return `digest of ${uri}`;
    }
    const signedInfo = one(root, '//ds:SignedInfo');
    const bytes = canonical(signedInfo, one(signedInfo, 'ds:CanonicalizationMethod'));
    const token = one(root, '//wsse:BinarySecurityToken').content;
    const key = new X509Certificate(Buffer.from(token, 'base64')).publicKey;
    const value = Buffer.from(one(root, '//ds:SignatureValue').content, 'base64');
    return verify('sha256', Buffer.from(bytes), key, value) ? undefined : 'SignatureValue';
  } finally {
    document.dispose();
  }
}
