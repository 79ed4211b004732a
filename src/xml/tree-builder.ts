import type { ErrorCode } from '../errors.js';
import { Namespaces, type NamespaceDeclaration } from './namespaces.js';
import type { RawAttribute, XmlHandler } from './reader.js';
import { isId, type XmlAttribute, type XmlDocument, type XmlElement, type XmlNode } from './tree.js';

const NONE: readonly never[] = [];

/**
 * How many times `maxBytes` the namespace names may be long where each is written out at every name that it belongs to,
 * as canonical form does at worst. An element takes 4 bytes at least, so that no document whose namespace names have up
 * to 128 characters comes near; one long name behind a prefix of one letter makes gigabytes of a MiB.
 */
const MAX_EXPANSION = 32;

interface BuildOptions {
  readonly maxBytes: number;
  readonly depth: number;
  readonly uniqueIds: boolean;
}

/** An element while its content is still arriving. */
interface Growing extends XmlElement {
  readonly children: XmlNode[];
  readonly parent: Growing | undefined;
}

/** Makes the tree of what the reader tells, and holds names, namespaces, depth and ids to their rules. */
export class TreeBuilder implements XmlHandler {
  readonly #options: BuildOptions;
  /** Refuses the document, naming the place where the reader is. */
  readonly #fail: (what: string, code?: ErrorCode) => never;
  readonly #namespaces = new Namespaces();
  readonly #ids = new Map<string, Growing>();
  /** Ids that the element in `#ids` carries as wsu:Id or xml:id. */
  readonly #strong = new Set<string>();
  readonly #ambiguous = new Set<string>();
  #root: Growing | undefined;
  #top: Growing | undefined;
  #depth = 0;
  /** Depth of the SOAP Body's element while inside it. */
  #bodyDepth = Infinity;

  constructor(options: BuildOptions, fail: (what: string, code?: ErrorCode) => never) {
    this.#options = options;
    this.#fail = fail;
  }

  open(name: string, raw: readonly RawAttribute[]): void {
    this.#depth++;
    if (this.#depth > this.#options.depth) this.#fail(`deeper than ${this.#options.depth} elements`, 'XML_TOO_DEEP');
    const declarations = raw.length === 0 ? NONE : this.#declarations(raw);
    this.#namespaces.enter(declarations);
    const attributes = raw.length === declarations.length ? NONE : this.#attributes(raw);
    const colon = name.indexOf(':');
    const prefix = colon === -1 ? '' : name.slice(0, colon);
    const parent = this.#top;
    const element: Growing = {
      kind: 'element', name, prefix, local: colon === -1 ? name : name.slice(colon + 1), uri: this.#uriOf(prefix),
      attributes, declarations, children: [], parent,
    };
    for (const attribute of attributes) {
      if (isId(attribute)) this.#identify(element, attribute.value, attribute.uri !== '');
    }
    if (parent === undefined) {
      this.#root = element;
    } else {
      parent.children.push(element);
    }
    if (this.#depth === 2 && element.local === 'Body' && element.uri === parent!.uri) this.#bodyDepth = 2;
    this.#top = element;
  }

  close(): void {
    if (this.#depth === this.#bodyDepth) this.#bodyDepth = Infinity;
    this.#depth--;
    this.#namespaces.leave(this.#top!.declarations);
    this.#top = this.#top!.parent;
  }

  text(value: string): void {
    if (value !== '') this.#top!.children.push({ kind: 'text', value });
  }

  comment(value: string): void {
    this.#top!.children.push({ kind: 'comment', value });
  }

  document(): XmlDocument {
    for (const id of this.#ambiguous) this.#ids.delete(id);
    return { root: this.#root!, ids: this.#ids };
  }

  #declarations(raw: readonly RawAttribute[]): readonly NamespaceDeclaration[] {
    let found: NamespaceDeclaration[] | undefined;
    for (const { name, value } of raw) {
      if (!isDeclaration(name)) continue;
      const declaration = [name.slice('xmlns:'.length), value] as const;
      if (!Namespaces.allows(declaration)) this.#fail(`'${name.slice(0, 40)}' may not stand for that namespace`);
      (found ??= []).push(declaration);
    }
    if (found === undefined) return NONE;
    if (repeats(found, ([prefix]) => prefix)) this.#fail('a prefix declared twice on one element');
    return found;
  }

  #attributes(raw: readonly RawAttribute[]): readonly XmlAttribute[] {
    const found: XmlAttribute[] = [];
    for (const { name, value } of raw) {
      if (isDeclaration(name)) continue;
      const colon = name.indexOf(':');
      if (colon === -1) {
        found.push({ name, prefix: '', local: name, uri: '', value });
      } else {
        const prefix = name.slice(0, colon);
        found.push({ name, prefix, local: name.slice(colon + 1), uri: this.#uriOf(prefix), value });
      }
    }
    if (repeats(found, ({ uri, local }) => `${local} ${uri}`)) this.#fail('an attribute twice on one element');
    return found;
  }

  #uriOf(prefix: string): string {
    const uri = this.#namespaces.uriOf(prefix) ?? this.#fail(`prefix '${prefix.slice(0, 40)}' is not declared`);
    const most = MAX_EXPANSION * this.#options.maxBytes;
    if (this.#namespaces.written > most) this.#fail(`namespace names of more than ${most} characters, written out`);
    return uri;
  }

  /**
   * `strong` ids (wsu:Id, xml:id) are ids wherever they stand. An attribute that is merely called Id, ID or id may
   * mean anything inside a business document, so two equal ones within the SOAP Body are not refused; but then neither
   * can be found by that id, so no signature can be taken to mean one of them.
   */
  #identify(element: Growing, id: string, strong: boolean): void {
    const standing = this.#ids.get(id);
    if (standing === undefined || standing === element) {
      this.#ids.set(id, element);
      if (strong) this.#strong.add(id);
    } else {
      const inPayload = this.#depth > this.#bodyDepth && isInBody(standing);
      if (this.#options.uniqueIds && (strong || !inPayload || this.#strong.has(id))) {
        this.#fail(`id '${id.slice(0, 80)}'`, 'DUPLICATE_ID');
      }
      this.#ambiguous.add(id);
    }
  }
}

function isDeclaration(name: string): boolean {
  return name.startsWith('xmlns') && (name.length === 5 || name.charCodeAt(5) === 0x3a);
}

function repeats<T>(list: readonly T[], key: (one: T) => string): boolean {
  return list.length > 1 && new Set(list.map(key)).size < list.length;
}

/** Whether the element lies below a Body that is a child of the root and in its namespace. */
function isInBody(element: XmlElement): boolean {
  for (let at = element.parent; at?.parent !== undefined; at = at.parent) {
    if (at.parent.parent === undefined) return at.local === 'Body' && at.uri === at.parent.uri;
  }
  return false;
}
