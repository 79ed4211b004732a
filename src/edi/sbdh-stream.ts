import { SaxesParser, type SaxesTagNS } from 'saxes';
import { As4OnceError } from '../errors.js';
import { XmlText } from '../xml/xml-text.js';

/** What is told of an element that was asked for: its path from the root, and its text when it closes. */
export interface XmlEvents {
  /**
   * An element opens. True asks for its text (`closed`), `pieces` for its text as it arrives, of any length (`piece`,
   * then `closed` with ''). An element whose text is asked for may hold no elements, and one in pieces no comments.
   */
  open(element: XmlTag, depth: number): boolean | 'pieces';
  piece?(text: string): void;
  closed(text: string, depth: number): void;
  /** Another element closes. */
  left(depth: number): void;
}

export interface XmlTag {
  readonly local: string;
  readonly uri: string;
  /** Value of the attribute of that local name; one without prefix comes first. */
  attribute(local: string): string | undefined;
}

/** Longest text of an element that is asked for, characters. */
const LONGEST_VALUE = 1024 * 1024;
/** Longest run of one thing that is not asked for and that the parser gathers all the same (a comment, CDATA), characters. */
const LONGEST_RUN = 64 * 1024 * 1024;
/** Long chunks are written in pieces, so that the bounds above hold within one chunk too. */
const PIECE = 64 * 1024;

/**
 * Reads an XML document of any size while it arrives: namespaces, no DOCTYPE, bounded depth, no tree. Text that nobody
 * asked for is checked and dropped, so that a document with 100 MB of payload costs no memory. Throws SBDH_BROKEN.
 */
export class XmlStream {
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #decoder = new XmlText();
  readonly #events: XmlEvents;
  readonly #depthBound: number;
  #depth = 0;
  /** Depth of the element whose text is wanted, 0 where none is. */
  #wanted = 0;
  #pieces = false;
  #text = '';

  constructor(events: XmlEvents, depth: number) {
    this.#events = events;
    this.#depthBound = depth;
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('closetag', () => this.#close());
    this.#parser.on('doctype', () => this.#fail('a DOCTYPE, which business documents do not have'));
    this.#parser.on('processinginstruction', () => {
      if (this.#wanted > 0) this.#fail('a processing instruction inside a value');
    });
    this.#parser.on('cdata', (text) => {
      if (this.#wanted > 0) this.#add(text);
    });
    // part of a comment may have been handed on as text before it was known to be one
    this.#parser.on('comment', () => {
      if (this.#pieces) this.#fail('a comment inside a value that is read in pieces');
    });
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += PIECE) this.#write(() => this.#decoder.push(chunk.subarray(at, at + PIECE)));
  }

  end(): void {
    this.#write(() => this.#decoder.end());
    this.#guard(() => this.#parser.close());
  }

  #write(decoded: () => string): void {
    this.#guard(() => {
      const text = decoded();
      if (text !== '') this.#parser.write(text);
    });
    // the parser gathers into this property; it has no bound of its own
    const parser = this.#parser as unknown as { text: string };
    if (this.#pieces) {
      const { text: piece } = parser;
      parser.text = '';
      this.#add(piece);
    } else if (parser.text.length > (this.#wanted > 0 ? LONGEST_VALUE : LONGEST_RUN)) {
      this.#fail('a value that is too long');
    }
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof As4OnceError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw new As4OnceError('SBDH_BROKEN', message.replace(/^(\d+):(\d+): /, 'line $1, column $2: ').replace(/\.$/, '').slice(0, 200));
    }
  }

  #fail(what: string): never {
    throw new As4OnceError('SBDH_BROKEN', `line ${this.#parser.line}, column ${this.#parser.column}: ${what}`);
  }

  #open(tag: SaxesTagNS): void {
    this.#depth += 1;
    if (this.#depth > this.#depthBound) this.#fail(`deeper than ${this.#depthBound} elements`);
    if (this.#wanted > 0) this.#fail(`the element '${tag.local.slice(0, 80)}' inside a value`);
    const wanted = this.#events.open({ local: tag.local, uri: tag.uri, attribute: (local) => attributeOf(tag, local) }, this.#depth);
    if (wanted === false) return;
    this.#wanted = this.#depth;
    this.#pieces = wanted === 'pieces';
    this.#text = '';
    this.#parser.on('text', (text) => this.#add(text));
  }

  #add(text: string): void {
    if (this.#pieces) {
      if (text !== '') this.#events.piece?.(text);
      return;
    }
    this.#text += text;
    if (this.#text.length > LONGEST_VALUE) this.#fail('a value that is too long');
  }

  #close(): void {
    if (this.#wanted > 0) {
      this.#wanted = 0;
      this.#pieces = false;
      this.#parser.off('text');
      this.#events.closed(this.#text, this.#depth);
    } else {
      this.#events.left(this.#depth);
    }
    this.#depth -= 1;
  }
}

function attributeOf({ attributes }: SaxesTagNS, local: string): string | undefined {
  const found = Object.values(attributes).filter((one) => one.local === local && one.prefix !== 'xmlns');
  return (found.find(({ prefix }) => prefix === '') ?? found[0])?.value;
}
