import type { XmlAttribute, XmlElement } from './tree.js';

/**
 * Exclusive XML Canonicalization 1.0 without comments (W3C REC-xml-exc-c14n-20020718) of one element and all below it.
 *
 * A prefix is written where it is visibly used and not already in force in the output; prefixes of the
 * InclusiveNamespaces list are written as Canonical XML 1.0 would. Names are ordered by code point, as the
 * recommendation says: an order by locale or by UTF-16 unit breaks genuine signatures. Work is linear in the size of
 * the subtree and of what is written; the recursion is as deep as the tree, and what namespace names can make of a
 * small tree is much: the parser bounds both.
 */
export interface CanonicalOptions {
  /** PrefixList of ec:InclusiveNamespaces; `#default` (or '') names the default namespace. */
  readonly inclusivePrefixes?: readonly string[];
  /** This element is left out with all below it (enveloped signature). */
  readonly withoutElement?: XmlElement;
}

export function canonicalize(element: XmlElement, options: CanonicalOptions = {}): string {
  const inclusive = new Set((options.inclusivePrefixes ?? []).map((p) => (p === '#default' ? '' : p)));
  const writer = new CanonicalWriter(inclusive);
  write(writer, element, inclusive.size === 0 ? [] : inheritedOf(element, inclusive), options.withoutElement);
  return writer.take();
}

/** Writes an element and all below it. */
export function write(
  writer: CanonicalWriter, element: XmlElement, inherited: readonly Binding[] = [], without?: XmlElement,
): void {
  writer.open(element, inherited);
  for (const node of element.children) {
    if (node.kind === 'text') writer.text(node.value);
    else if (node.kind === 'element' && node !== without) write(writer, node, [], without);
  }
  writer.close(element.name);
}

type Binding = readonly [prefix: string, uri: string];
/** A prefix that a start tag binds, and what it stood for before. */
type Change = readonly [prefix: string, before: string | undefined];

/** What canonical form asks of a start tag. */
export type StartTag = Pick<XmlElement, 'name' | 'prefix' | 'uri' | 'attributes' | 'declarations'>;

/** Writes canonical form event by event, for trees and for documents that are too large to be one. */
export class CanonicalWriter {
  #out = '';
  /** What the output has in force here: prefix to namespace URI. No entry means not bound. */
  readonly #inForce: Map<string, string>;
  /** For each open element, what its start tag has changed; most change nothing. */
  readonly #changes: (Change[] | undefined)[] = [];
  readonly #inclusive: ReadonlySet<string>;

  /** `inForce`: what elements around the output already bind. */
  constructor(inclusive: ReadonlySet<string> = new Set(), inForce: ReadonlyMap<string, string> = new Map()) {
    this.#inclusive = inclusive;
    this.#inForce = new Map(inForce);
  }

  /** Everything written since the last call. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  /** `inherited`: bindings of inclusive prefixes that the apex has from its ancestors; empty below the apex. */
  open(tag: StartTag, inherited: readonly Binding[] = []): void {
    let changes = this.#need(tag.prefix, tag.uri);
    for (const a of tag.attributes) if (a.prefix !== '') changes = this.#need(a.prefix, a.uri, changes);
    for (const [prefix, uri] of inherited) changes = this.#need(prefix, uri, changes);
    if (this.#inclusive.size > 0) {
      for (const [prefix, uri] of tag.declarations) if (this.#inclusive.has(prefix)) changes = this.#need(prefix, uri, changes);
    }
    this.#changes.push(changes);
    let out = `<${tag.name}`;
    for (const [prefix] of inPrefixOrder(changes)) {
      out += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${attributeValue(this.#inForce.get(prefix) ?? '')}"`;
    }
    for (const a of inOrder(tag.attributes)) out += ` ${a.name}="${attributeValue(a.value)}"`;
    this.#out += `${out}>`;
  }

  /** Binds the prefix in the output where it does not stand for that namespace there already, and adds that to `changes`. */
  #need(prefix: string, uri: string, changes?: Change[]): Change[] | undefined {
    const current = this.#inForce.get(prefix);
    if ((current ?? '') === uri || prefix === 'xml') return changes;
    this.#inForce.set(prefix, uri);
    const change: Change = [prefix, current];
    if (changes === undefined) return [change];
    changes.push(change);
    return changes;
  }

  text(value: string): void {
    this.#out += characterData(value);
  }

  /** A processing instruction, which canonical form keeps; `data` is without leading white space. */
  instruction(target: string, data: string): void {
    this.#out += `<?${target}${data === '' ? '' : ` ${data.replace(/\r/g, '&#xD;')}`}?>`;
  }

  /** The line feed between the document element and what stands beside it. */
  lineFeed(): void {
    this.#out += '\n';
  }

  close(name: string): void {
    this.#out += `</${name}>`;
    for (const [prefix, uri] of this.#changes.pop() ?? []) {
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

function inPrefixOrder(changes: readonly Change[] = []): readonly Change[] {
  return changes.length < 2 ? changes : [...changes].sort((a, b) => byCodePoint(a[0], b[0]));
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
