import { SaxesParser } from 'saxes';
import type { SaxesAttributeNS, SaxesTagNS, XMLDecl } from 'saxes';
import { As4OnceError } from '../errors.js';
import type { XmlAttribute, XmlDocument, XmlElement, XmlNode } from './tree.js';

/**
 * The strict reading of one XML document into the tree of tree.ts: XML 1.0 with namespaces, UTF-8 or UTF-16, no DOCTYPE
 * and so no entities but the five of XML itself, no processing instructions in the root element (SOAP 1.2 part 1, 5;
 * SOAP 1.1, 3).
 */
export interface ParseOptions {
  /** Longest document, bytes. */
  readonly maxBytes: number;
  /** Deepest nesting; the root element is level 1. Checked while parsing, since depth costs the parser square time. */
  readonly depth: number;
  /** Refuse two elements with one id. */
  readonly uniqueIds: boolean;
  /** `charset` of the media type the document came with, if any. */
  readonly charset?: string;
}

const XMLNS = 'http://www.w3.org/2000/xmlns/';
const XML = 'http://www.w3.org/XML/1998/namespace';
const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

/** Most attributes and namespace declarations on one element. */
const MAX_ATTRIBUTES = 1_000;

/** First characters that a Name may go on with but not begin with (XML 1.0, 2.3). */
const NOT_NAME_START = /^(?:[-.0-9\u00b7\u203f\u2040]|[\u0300-\u036f])/;

/** An element while its content is still arriving. */
interface Growing extends XmlElement {
  readonly attributes: XmlAttribute[];
  readonly declarations: (readonly [prefix: string, uri: string])[];
  readonly children: XmlNode[];
  readonly parent: Growing | undefined;
}

/**
 * Parses the bytes. Throws ROOT_TOO_LARGE, XML_BROKEN, XML_FORBIDDEN, XML_TOO_DEEP or DUPLICATE_ID, with line and
 * column in the detail where there is one.
 */
export function parseXml(bytes: Uint8Array, options: ParseOptions): XmlDocument {
  if (bytes.length > options.maxBytes) {
    throw new As4OnceError('ROOT_TOO_LARGE', `${bytes.length} bytes, at most ${options.maxBytes}`);
  }
  const source = decode(bytes, options.charset);
  const builder = new TreeBuilder(options);
  const parser = new SaxesParser({ xmlns: true });
  builder.position = () => `line ${parser.line}, column ${parser.column}`;
  parser.on('opentag', (tag) => builder.open(tag));
  parser.on('closetag', () => builder.close());
  parser.on('text', (value) => builder.text(value));
  parser.on('attribute', (attribute) => builder.attribute(attribute));
  // saxes slows down sixfold once seven handlers are set, so the rare constructs get theirs only where they can occur.
  if (source.text.includes('<![CDATA[')) parser.on('cdata', (value) => builder.text(value));
  if (source.text.includes('<!--')) parser.on('comment', (value) => builder.comment(value));
  if (source.text.includes('<!D')) parser.on('doctype', () => builder.forbidden('DOCTYPE'));
  if (source.text.indexOf('<?', /^<\?xml[ \t\r\n]/.test(source.text) ? 1 : 0) >= 0) {
    parser.on('processinginstruction', ({ body }) => builder.instruction(body));
  }
  try {
    parser.write(source.text);
    // close() forgets the declaration
    checkDeclaration(parser.xmlDecl, source);
    parser.close();
  } catch (error) {
    throw error instanceof As4OnceError ? error : new As4OnceError('XML_BROKEN', syntaxDetail(error));
  }
  return builder.document();
}

class TreeBuilder {
  readonly #options: ParseOptions;
  readonly #ids = new Map<string, Growing>();
  readonly #ambiguous = new Set<string>();
  #root: Growing | undefined;
  #top: Growing | undefined;
  #depth = 0;
  /** Attributes of the start tag that is being read. */
  #attributes: SaxesAttributeNS[] = [];
  /** Depth of the SOAP Body's element while inside it. */
  #bodyDepth = Infinity;
  position: () => string = () => '';

  constructor(options: ParseOptions) {
    this.#options = options;
  }

  /** Saxes hands an attribute out before it resolves the prefix, and sets `uri` on this object before `open`. */
  attribute(attribute: Omit<SaxesAttributeNS, 'uri'>): void {
    if (this.#attributes.push(attribute as SaxesAttributeNS) > MAX_ATTRIBUTES) {
      throw new As4OnceError('XML_BROKEN', `${this.position()}: more than ${MAX_ATTRIBUTES} attributes on one element`);
    }
  }

  open(tag: SaxesTagNS): void {
    this.#depth++;
    if (this.#depth > this.#options.depth) {
      throw new As4OnceError('XML_TOO_DEEP', `${this.position()}: deeper than ${this.#options.depth} elements`);
    }
    if (tag.prefix !== '') this.#checkLocal(tag.local);
    const parent = this.#top;
    const element: Growing = {
      kind: 'element', name: tag.name, prefix: tag.prefix, local: tag.local, uri: tag.uri,
      attributes: [], declarations: [], children: [], parent,
    };
    if (this.#attributes.length > 0) this.#takeAttributes(element);
    if (parent === undefined) {
      this.#root = element;
    } else {
      parent.children.push(element);
    }
    if (this.#depth === 2 && element.local === 'Body' && element.uri === parent!.uri) this.#bodyDepth = 2;
    this.#top = element;
  }

  #takeAttributes(element: Growing): void {
    for (const found of this.#attributes) {
      const { prefix, local, uri, value } = found;
      if (prefix !== '') this.#checkLocal(local);
      if (uri === XMLNS) {
        // Saxes trims the names of namespaces; no other reader does.
        if (value !== value.trim()) {
          throw new As4OnceError('XML_BROKEN', `${this.position()}: namespace name with white space around it`);
        }
        element.declarations.push([prefix === '' ? '' : local, value]);
      } else {
        element.attributes.push(found);
        if (isId(uri, local)) this.#identify(element, value, uri !== '');
      }
    }
    this.#attributes = [];
  }

  /** What follows a prefix begins like a name of its own (Namespaces in XML 1.0, 3); saxes lets a digit or '-' pass. */
  #checkLocal(local: string): void {
    // most names begin with a letter: the rest of the question is for those that do not
    const first = local.charCodeAt(0) | 0x20;
    if (first >= 0x61 && first <= 0x7a) return;
    if (NOT_NAME_START.test(local)) {
      throw new As4OnceError('XML_BROKEN', `${this.position()}: local name '${local.slice(0, 40)}'`);
    }
  }

  close(): void {
    if (this.#depth === this.#bodyDepth) this.#bodyDepth = Infinity;
    this.#depth--;
    this.#top = this.#top?.parent;
  }

  text(value: string): void {
    if (value !== '') this.#top?.children.push({ kind: 'text', value });
  }

  comment(value: string): void {
    this.#top?.children.push({ kind: 'comment', value });
  }

  /** Outside the root element it says nothing about the message, and receivers skip it. */
  instruction(body: string): void {
    if (this.#top !== undefined) this.forbidden('processing instruction');
    // Saxes takes '<?a??>', which has no white space behind its target.
    if (body.startsWith('?')) throw new As4OnceError('XML_BROKEN', `${this.position()}: processing instruction`);
  }

  forbidden(what: string): never {
    throw new As4OnceError('XML_FORBIDDEN', `${this.position()}: ${what}`);
  }

  document(): XmlDocument {
    for (const id of this.#ambiguous) this.#ids.delete(id);
    return { root: this.#root!, ids: this.#ids };
  }

  /**
   * `strong` ids (wsu:Id, xml:id) are ids wherever they stand. An attribute that is merely called Id, ID or id may
   * mean anything inside a business document, so two equal ones within the SOAP Body are not refused; but then neither
   * can be found by that id, so no signature can be taken to mean one of them.
   */
  #identify(element: Growing, id: string, strong: boolean): void {
    const standing = this.#ids.get(id);
    if (standing === undefined) {
      this.#ids.set(id, element);
    } else if (standing !== element) {
      const inPayload = this.#depth > this.#bodyDepth && isInBody(standing);
      if (this.#options.uniqueIds && (strong || !inPayload || hasStrongId(standing, id))) {
        throw new As4OnceError('DUPLICATE_ID', `${this.position()}: id '${id.slice(0, 80)}'`);
      }
      this.#ambiguous.add(id);
    }
  }
}

function isId(uri: string, local: string): boolean {
  if (uri === '') return local === 'Id' || local === 'ID' || local === 'id';
  return (uri === WSU && local === 'Id') || (uri === XML && local === 'id');
}

function hasStrongId(element: XmlElement, id: string): boolean {
  return element.attributes.some((a) => a.value === id && a.uri !== '' && isId(a.uri, a.local));
}

/** Whether the element lies below a Body that is a child of the root and in its namespace. */
function isInBody(element: XmlElement): boolean {
  for (let at = element.parent; at?.parent !== undefined; at = at.parent) {
    if (at.parent.parent === undefined) return at.local === 'Body' && at.uri === at.parent.uri;
  }
  return false;
}

interface Source {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16';
  readonly ascii: boolean;
  readonly charset: string | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array, charset: string | undefined): Source {
  const [a, b] = bytes;
  const wide = (a === 0xfe && b === 0xff) || (a === 0x00 && b === 0x3c) ? 'utf-16be'
    : (a === 0xff && b === 0xfe) || (a === 0x3c && b === 0x00) ? 'utf-16le' : undefined;
  try {
    if (wide !== undefined) {
      const text = new TextDecoder(wide, { fatal: true }).decode(bytes);
      return { text, encoding: 'utf-16', ascii: false, charset };
    }
    const text = utf8.decode(bytes);
    // Byte order mark or not: as many characters as bytes means nothing but ASCII.
    return { text, encoding: 'utf-8', ascii: text.length === bytes.length, charset };
  } catch {
    throw new As4OnceError('XML_BROKEN', `the bytes are not ${wide ?? 'UTF-8'}`);
  }
}

/** Encodings that read pure ASCII the way UTF-8 does, so that every receiver reads the same characters. */
const ASCII_COMPATIBLE = /^(us-ascii|ascii|iso-8859-\d+|latin\d|windows-125\d)$/;

function checkDeclaration(declared: XMLDecl, source: Source): void {
  if (declared.version !== undefined && declared.version !== '1.0') {
    throw new As4OnceError('XML_BROKEN', `XML ${declared.version}, SOAP is XML 1.0`);
  }
  for (const named of [declared.encoding, source.charset]) {
    if (named === undefined) continue;
    const name = named.toLowerCase();
    const fits = source.encoding === 'utf-16' ? /^utf-16(le|be)?$/.test(name)
      : name === 'utf-8' || name === 'utf8' || (source.ascii && ASCII_COMPATIBLE.test(name));
    if (!fits) {
      throw new As4OnceError('XML_BROKEN', `encoding '${named.slice(0, 40)}' but the bytes are ${source.encoding}`);
    }
  }
}

/** `12:34: unexpected close tag.` of the parser as `line 12, column 34: unexpected close tag`. */
function syntaxDetail(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^(\d+):(\d+): /, 'line $1, column $2: ').replace(/\.$/, '').slice(0, 200);
}
