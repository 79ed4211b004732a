import type { XmlAttribute, XmlElement } from './tree.js';

/**
 * Exclusive XML Canonicalization 1.0 without comments (W3C REC-xml-exc-c14n-20020718) of one element and all below it.
 *
 * A prefix is written where it is visibly used and not already in force in the output; prefixes of the InclusiveNamespaces
 * list are written as Canonical XML 1.0 would. Names are ordered by code point, as the recommendation says: an order by
 * locale or by UTF-16 unit breaks genuine signatures. Work is linear in the size of the subtree and its declarations;
 * the recursion is as deep as the tree, which the parser bounds.
 */
export interface CanonicalOptions {
  /** PrefixList of ec:InclusiveNamespaces; `#default` (or '') names the default namespace. */
  readonly inclusivePrefixes?: readonly string[];
  /** This element is left out with all below it (enveloped signature). */
  readonly withoutElement?: XmlElement;
}

export function canonicalize(element: XmlElement, options: CanonicalOptions = {}): string {
  const inclusive = new Set((options.inclusivePrefixes ?? []).map((p) => (p === '#default' ? '' : p)));
  const writer = new Writer(inclusive, options.withoutElement);
  writer.element(element, inclusive.size === 0 ? [] : inheritedOf(element, inclusive));
  return writer.out;
}

type Binding = readonly [prefix: string, uri: string];

class Writer {
  out = '';
  /** What the output has in force here: prefix to namespace URI. No entry means not bound. */
  readonly #inForce = new Map<string, string>();
  readonly #inclusive: ReadonlySet<string>;
  readonly #without: XmlElement | undefined;

  constructor(inclusive: ReadonlySet<string>, without: XmlElement | undefined) {
    this.#inclusive = inclusive;
    this.#without = without;
  }

  /** `inherited`: bindings of inclusive prefixes that the apex has from its ancestors; empty below the apex. */
  element(element: XmlElement, inherited: readonly Binding[]): void {
    const undo: (readonly [prefix: string, uri: string | undefined])[] = [];
    let fresh: Binding[] | undefined;
    const need = (prefix: string, uri: string): void => {
      const current = this.#inForce.get(prefix);
      if ((current ?? '') === uri || prefix === 'xml') return;
      undo.push([prefix, current]);
      this.#inForce.set(prefix, uri);
      (fresh ??= []).push([prefix, uri]);
    };

    need(element.prefix, element.uri);
    for (const a of element.attributes) if (a.prefix !== '') need(a.prefix, a.uri);
    for (const [prefix, uri] of inherited) need(prefix, uri);
    if (this.#inclusive.size > 0) {
      for (const [prefix, uri] of element.declarations) if (this.#inclusive.has(prefix)) need(prefix, uri);
    }

    this.out += `<${element.name}`;
    if (fresh !== undefined) {
      fresh.sort((a, b) => byCodePoint(a[0], b[0]));
      for (const [prefix, uri] of fresh) this.out += ` xmlns${prefix === '' ? '' : `:${prefix}`}="${attributeValue(uri)}"`;
    }
    for (const a of inOrder(element.attributes)) this.out += ` ${a.name}="${attributeValue(a.value)}"`;
    this.out += '>';
    for (const node of element.children) {
      if (node.kind === 'text') this.out += characterData(node.value);
      else if (node.kind === 'element' && node !== this.#without) this.element(node, []);
    }
    this.out += `</${element.name}>`;

    for (const [prefix, uri] of undo) {
      if (uri === undefined) this.#inForce.delete(prefix);
      else this.#inForce.set(prefix, uri);
    }
  }
}

/** What the ancestors bind the inclusive prefixes to, nearest first; the element's own declarations win. */
function inheritedOf(element: XmlElement, inclusive: ReadonlySet<string>): Binding[] {
  const found = new Map<string, string>();
  for (let at: XmlElement | undefined = element; at !== undefined; at = at.parent) {
    for (const [prefix, uri] of at.declarations) {
      if (inclusive.has(prefix) && !found.has(prefix)) found.set(prefix, uri);
    }
  }
  return [...found];
}

/** Attributes in canonical order: namespace URI, then local name, those without namespace first. */
function inOrder(attributes: readonly XmlAttribute[]): readonly XmlAttribute[] {
  if (attributes.length < 2) return attributes;
  return [...attributes].sort((a, b) => byCodePoint(a.uri, b.uri) || byCodePoint(a.local, b.local));
}

/** Compares by Unicode code point. `<` compares UTF-16 units, which puts surrogate pairs before U+E000. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates above the rest of the basic plane. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

const IN_TEXT: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
const IN_VALUE: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '"': '&quot;', '\t': '&#x9;', '\n': '&#xA;', '\r': '&#xD;',
};

/** Character data as canonical form writes it (Canonical XML 1.0, 2.3). */
export function characterData(value: string): string {
  return /[&<>\r]/.test(value) ? value.replace(/[&<>\r]/g, (c) => IN_TEXT[c] ?? c) : value;
}

/** An attribute value as canonical form writes it, without the quotes. */
export function attributeValue(value: string): string {
  return /[&<"\t\n\r]/.test(value) ? value.replace(/[&<"\t\n\r]/g, (c) => IN_VALUE[c] ?? c) : value;
}
