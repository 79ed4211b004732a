import { ExclusiveCanonicalization, SignedXml } from 'xml-crypto';
import { ALGORITHM } from './names.js';

interface Named {
  readonly prefix: string;
}

interface Attribute {
  readonly namespaceURI: string | null;
  readonly localName: string;
}

/**
 * Exclusive canonical form with names in code point order, as Canonical XML 1.0 section 2.2 wants it. The class of
 * xml-crypto sorts prefixes by locale, so that `eb` comes before `S12` and real messages of other products fail.
 */
class CodePointExclusive extends ExclusiveCanonicalization {
  override nsCompare(left: Named, right: Named): number {
    return byCodePoint(left.prefix, right.prefix);
  }

  override attrCompare(left: Attribute, right: Attribute): -1 | 0 | 1 {
    return (
      byCodePoint(left.namespaceURI ?? '', right.namespaceURI ?? '') || byCodePoint(left.localName, right.localName)
    );
  }
}

function byCodePoint(left: string, right: string): -1 | 0 | 1 {
  return Buffer.compare(Buffer.from(left, 'utf8'), Buffer.from(right, 'utf8'));
}

/** The methods of xml-crypto that have no public hook for attachments; looked at by name, in this one place. */
export interface Innards {
  addAllReferences(document: unknown, signature: DomElement, targets: unknown, prefix: string | undefined): void;
  validateReference(
    reference: { uri: string; digestAlgorithm: string; digestValue?: unknown },
    document: unknown,
  ): string | undefined;
  parseTransformInput(octets: string, name: string): DomElement;
}

/** As much of the DOM as is touched here. */
export interface DomElement {
  readonly ownerDocument: { createElementNS(ns: string, name: string): DomElement };
  readonly firstChild: DomElement;
  textContent: string | null;
  appendChild(child: DomElement): DomElement;
  setAttribute(name: string, value: string): void;
  toString(): string;
}

/** A SignedXml that knows only exclusive canonical form, SHA-2 and RSA with SHA-2. */
export function strictSignedXml(options: ConstructorParameters<typeof SignedXml>[0]): SignedXml & { innards: Innards } {
  const signed = new SignedXml(options);
  const only = <T>(table: Record<string, T>, names: readonly string[]): Record<string, T> =>
    Object.fromEntries(names.flatMap((name) => (table[name] === undefined ? [] : [[name, table[name]]])));
  signed.CanonicalizationAlgorithms = { [ALGORITHM.c14n]: CodePointExclusive };
  signed.HashAlgorithms = only(signed.HashAlgorithms, [ALGORITHM.sha256, ALGORITHM.sha512]);
  signed.SignatureAlgorithms = only(signed.SignatureAlgorithms, [ALGORITHM.rsaSha256, ALGORITHM.rsaSha512]);
  return Object.assign(signed, { innards: signed as unknown as Innards });
}

/** Exclusive canonical form of a whole XML document, comments dropped. Throws when it is not well-formed. */
export function canonicalDocument(xml: string): string {
  if (/<\?(?!xml[\s?])/.test(xml))
    throw new Error('an XML payload with processing instructions can only be signed compressed');
  const signed = strictSignedXml({});
  const root = signed.innards.parseTransformInput(xml.replace(/^\ufeff/, ''), 'payload');
  return signed.getCanonXml([ALGORITHM.c14n], root);
}
