import { XML_NAMESPACE } from './namespaces.js';

/**
 * The one small tree of an XML document. The strict parser (xml/parse.ts) builds it once; header reading, signature
 * verification and canonical form all work on it, so that what is read is what was verified.
 */

export interface XmlElement {
  readonly kind: 'element';
  /** Name as written, with prefix. */
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  /** Namespace URI, '' if none. */
  readonly uri: string;
  /** Attributes without namespace declarations, in document order, values normalised as XML 1.0 3.3.3 says. */
  readonly attributes: readonly XmlAttribute[];
  /** Namespace declarations on this element: [prefix or '', uri]. */
  readonly declarations: readonly (readonly [prefix: string, uri: string])[];
  readonly children: readonly XmlNode[];
  readonly parent: XmlElement | undefined;
}

export interface XmlAttribute {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly value: string;
}

/** Character data; CDATA sections and entity references are already resolved into it. */
export interface XmlText {
  readonly kind: 'text';
  readonly value: string;
}

export interface XmlComment {
  readonly kind: 'comment';
  readonly value: string;
}

export type XmlNode = XmlElement | XmlText | XmlComment;

export interface XmlDocument {
  readonly root: XmlElement;
  /** Elements by wsu:Id, xml:id, Id, ID or id (unique: duplicates are refused by the parser where asked). */
  readonly ids: ReadonlyMap<string, XmlElement>;
}

const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

/** Whether the attribute names its element: wsu:Id, xml:id, or an Id without namespace. */
export function isId({ uri, local }: XmlAttribute): boolean {
  if (uri === '') return local === 'Id' || local === 'ID' || local === 'id';
  return (uri === WSU && local === 'Id') || (uri === XML_NAMESPACE && local === 'id');
}

/** Direct child elements of that namespace and name. */
export function children(element: XmlElement, uri: string, local: string): XmlElement[] {
  const found: XmlElement[] = [];
  for (const node of element.children) {
    if (node.kind === 'element' && node.local === local && node.uri === uri) found.push(node);
  }
  return found;
}

/** The first such child. */
export function child(element: XmlElement, uri: string, local: string): XmlElement | undefined {
  for (const node of element.children) {
    if (node.kind === 'element' && node.local === local && node.uri === uri) return node;
  }
  return undefined;
}

/** Value of an attribute; `uri` '' for one without namespace. */
export function attribute(element: XmlElement, uri: string, local: string): string | undefined {
  for (const found of element.attributes) if (found.local === local && found.uri === uri) return found.value;
  return undefined;
}

/** All character data directly below the element; comments do not split it. */
export function text(element: XmlElement): string {
  let all = '';
  for (const node of element.children) if (node.kind === 'text') all += node.value;
  return all;
}
