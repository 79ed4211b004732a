import { As4OnceError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import { endOfName } from './names.js';

/** What the reader tells, in document order. It stands where `fail` would say until the call returns. */
export interface XmlHandler {
  open(name: string, attributes: RawAttribute[]): void;
  close(): void;
  /** Character data between two pieces of markup, references resolved; a CDATA section is a piece of its own. */
  text(value: string): void;
  comment(value: string): void;
}

/** An attribute or namespace declaration as it stands, its value normalised (XML 1.0, 3.3.3). */
export interface RawAttribute {
  readonly name: string;
  readonly value: string;
}

/** What the XML declaration says (XML 1.0, 2.8). */
export interface Declaration {
  readonly version: string;
  readonly encoding: string | undefined;
}

/** Most attributes and namespace declarations on one element. */
const MAX_ATTRIBUTES = 1_000;

/** Characters that no document may hold (XML 1.0, 2.2); the decoder has seen to the surrogates. */
const NO_CHAR = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
const EQ = String.raw`[ \t\n]*=[ \t\n]*`;
const DECLARATION = new RegExp(
  String.raw`<\?xml[ \t\n]+version${EQ}("|')(1\.[0-9]+)\1`
  + String.raw`(?:[ \t\n]+encoding${EQ}("|')([A-Za-z][A-Za-z0-9._-]*)\3)?`
  + String.raw`(?:[ \t\n]+standalone${EQ}("|')(?:yes|no)\5)?[ \t\n]*\?>`, 'y');
const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#([0-9]+)|#x([0-9A-Fa-f]+));/y;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const TAB = 0x09;
const LF = 0x0a;
const SPACE = 0x20;
const BANG = 0x21;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const SLASH = 0x2f;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION = 0x3f;

/**
 * The grammar of XML 1.0 without DOCTYPE, and so with no entities but the five of XML itself, and without processing
 * instructions inside the root element (SOAP 1.2 part 1, 5; SOAP 1.1, 3). Well-formedness but for namespaces, which are
 * its handler's. Throws XML_BROKEN or XML_FORBIDDEN, with line and column.
 */
export class XmlReader {
  readonly #text: string;
  readonly #open: string[] = [];
  #at = 0;

  constructor(text: string) {
    // line ends first of all (XML 1.0, 2.11)
    this.#text = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  }

  /** Reads to the end of the document. */
  read(handler: XmlHandler): Declaration | undefined {
    const text = this.#text;
    const wrong = text.search(NO_CHAR);
    if (wrong !== -1) this.fail(`the character U+${text.charCodeAt(wrong).toString(16).padStart(4, '0')}`, 'XML_BROKEN', wrong);
    const declaration = this.#declaration();
    this.#misc();
    if (this.#at === text.length) this.fail('no root element');
    this.#startTag(handler);
    while (this.#open.length > 0) this.#content(handler);
    this.#misc();
    if (this.#at < text.length) this.fail('markup after the root element');
    return declaration;
  }

  fail(what: string, code: ErrorCode = 'XML_BROKEN', at: number = this.#at): never {
    const before = this.#text.slice(0, at);
    const line = before.split('\n').length;
    throw new As4OnceError(code, `line ${line}, column ${at - before.lastIndexOf('\n')}: ${what}`);
  }

  #declaration(): Declaration | undefined {
    DECLARATION.lastIndex = 0;
    const found = DECLARATION.exec(this.#text);
    if (found === null) return undefined;
    this.#at = DECLARATION.lastIndex;
    return { version: found[2]!, encoding: found[4] };
  }

  /** White space, comments and processing instructions before and behind the root element; they say nothing. */
  #misc(): void {
    for (;;) {
      this.#space();
      if (this.#at === this.#text.length) return;
      if (this.#text.charCodeAt(this.#at) !== LESS) this.fail('text outside the root element');
      const next = this.#text.charCodeAt(this.#at + 1);
      if (next === QUESTION) {
        this.#instruction();
      } else if (next === BANG) {
        if (!this.#text.startsWith('<!--', this.#at)) this.#noMarkup();
        this.#commentBody();
      } else {
        return;
      }
    }
  }

  #instruction(): void {
    const end = this.#text.indexOf('?>', this.#at + 2);
    const behind = endOfName(this.#text, this.#at + 2);
    const target = this.#text.slice(this.#at + 2, behind);
    if (end === -1 || target === '' || target.includes(':') || target.toLowerCase() === 'xml' || (behind !== end && !isSpace(this.#text.charCodeAt(behind)))) {
      this.fail('broken processing instruction or XML declaration');
    }
    this.#at = end + 2;
  }

  /** Everything up to the next markup, and that markup. */
  #content(handler: XmlHandler): void {
    const text = this.#text;
    const less = text.indexOf('<', this.#at);
    if (less === -1) this.fail(`the document ends inside ${shown(this.#open.at(-1)!)}`, 'XML_BROKEN', text.length);
    if (less > this.#at) this.#characters(less, handler);
    switch (text.charCodeAt(less + 1)) {
      case SLASH: return this.#endTag(handler);
      case BANG: return this.#declared(handler);
      case QUESTION: return this.fail('processing instruction', 'XML_FORBIDDEN');
      default: return this.#startTag(handler);
    }
  }

  #characters(to: number, handler: XmlHandler): void {
    const raw = this.#text.slice(this.#at, to);
    const end = raw.indexOf(']]>');
    if (end !== -1) this.fail("']]>' in character data", 'XML_BROKEN', this.#at + end);
    handler.text(raw.includes('&') ? this.#resolved(raw, this.#at) : raw);
    this.#at = to;
  }

  /** A comment or a CDATA section inside the root element. */
  #declared(handler: XmlHandler): void {
    if (this.#text.startsWith('<!--', this.#at)) return handler.comment(this.#commentBody());
    if (!this.#text.startsWith('<![CDATA[', this.#at)) this.#noMarkup();
    const end = this.#text.indexOf(']]>', this.#at + 9);
    if (end === -1) this.fail('CDATA section without an end');
    const value = this.#text.slice(this.#at + 9, end);
    this.#at = end + 3;
    return handler.text(value);
  }

  #noMarkup(): never {
    if (this.#text.startsWith('<!DOCTYPE', this.#at)) this.fail('DOCTYPE', 'XML_FORBIDDEN');
    this.fail('unknown markup');
  }

  #commentBody(): string {
    const end = this.#text.indexOf('--', this.#at + 4);
    if (end === -1 || this.#text.charCodeAt(end + 2) !== GREATER) this.fail("comment without an end, or with '--' in it");
    const value = this.#text.slice(this.#at + 4, end);
    this.#at = end + 3;
    return value;
  }

  #startTag(handler: XmlHandler): void {
    const text = this.#text;
    const end = endOfName(text, this.#at + 1);
    if (end === this.#at + 1) this.fail('a name was to follow');
    const name = text.slice(this.#at + 1, end);
    const attributes: RawAttribute[] = [];
    let code = this.#skip(end);
    while (code !== GREATER && code !== SLASH) {
      if (this.#at === end || !isSpace(text.charCodeAt(this.#at - 1))) this.fail(`the tag of ${shown(name)} is broken`);
      attributes.push(this.#attribute());
      if (attributes.length > MAX_ATTRIBUTES) this.fail(`more than ${MAX_ATTRIBUTES} attributes on one element`);
      code = this.#skip(this.#at);
    }
    if (code === SLASH && text.charCodeAt(this.#at + 1) !== GREATER) this.fail(`the tag of ${shown(name)} is broken`);
    handler.open(name, attributes);
    this.#at += 1;
    if (code === GREATER) {
      this.#open.push(name);
    } else {
      this.#at += 1;
      handler.close();
    }
  }

  #attribute(): RawAttribute {
    const text = this.#text;
    const end = endOfName(text, this.#at);
    if (end === this.#at) this.fail('the name of an attribute was to follow');
    const name = text.slice(this.#at, end);
    if (this.#skip(end) !== EQUALS) this.fail(`attribute ${shown(name)} has no value`);
    const quote = this.#skip(this.#at + 1);
    if (quote !== QUOTE && quote !== APOSTROPHE) this.fail(`the value of ${shown(name)} is not in quotes`);
    const close = text.indexOf(quote === QUOTE ? '"' : "'", this.#at + 1);
    if (close === -1) this.fail(`the value of ${shown(name)} does not end`);
    const raw = text.slice(this.#at + 1, close);
    const less = raw.indexOf('<');
    if (less !== -1) this.fail(`'<' in the value of ${shown(name)}`, 'XML_BROKEN', this.#at + 1 + less);
    const value = this.#normalised(raw, this.#at + 1);
    this.#at = close + 1;
    return { name, value };
  }

  #endTag(handler: XmlHandler): void {
    const name = this.#open.at(-1)!;
    const from = this.#at + 2;
    if (!this.#text.startsWith(name, from) || this.#skip(from + name.length) !== GREATER) {
      this.fail(`${shown(name)} was to end here`);
    }
    this.#open.pop();
    handler.close();
    this.#at += 1;
  }

  /** White space in an attribute is a space, unless it is written as a reference (XML 1.0, 3.3.3). */
  #normalised(raw: string, from: number): string {
    const value = /[\t\n]/.test(raw) ? raw.replace(/[\t\n]/g, ' ') : raw;
    return value.includes('&') ? this.#resolved(value, from) : value;
  }

  /** `from` is where `raw` stands. One by one, so that the first wrong reference ends the work and is the place named. */
  #resolved(raw: string, from: number): string {
    let value = '';
    let done = 0;
    for (let at = raw.indexOf('&'); at !== -1; at = raw.indexOf('&', done)) {
      REFERENCE.lastIndex = at;
      const found = REFERENCE.exec(raw);
      if (found === null) this.fail("'&' begins no reference", 'XML_BROKEN', from + at);
      const [all, entity, decimal, hex] = found;
      const code = decimal !== undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex ?? '', 16);
      if (entity === undefined && !isChar(code)) {
        this.fail(`'${all.slice(0, 40)}' stands for no character`, 'XML_BROKEN', from + at);
      }
      value += raw.slice(done, at) + (entity === undefined ? String.fromCodePoint(code) : ENTITIES[entity]!);
      done = at + all.length;
    }
    return value + raw.slice(done);
  }

  /** Goes over white space from `from`; the character behind it. */
  #skip(from: number): number {
    this.#at = from;
    this.#space();
    return this.#text.charCodeAt(this.#at);
  }

  #space(): void {
    let at = this.#at;
    while (isSpace(this.#text.charCodeAt(at))) at++;
    this.#at = at;
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LF || code === TAB;
}

/** XML 1.0, 2.2. */
function isChar(code: number): boolean {
  return code === TAB || code === LF || code === 0x0d || (code >= SPACE && code <= 0xd7ff)
    || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

function shown(name: string): string {
  return `'${name.slice(0, 40)}'`;
}
