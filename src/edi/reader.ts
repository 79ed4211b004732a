import { createHash, type Hash } from 'node:crypto';
import { EdiBroken, type Checks } from './broken.js';
import { EdifactSyntax, INTERACTIVE } from './edifact.js';
import type { Interchange } from './interchange.js';
import { isSpace, SegmentScanner } from './segments.js';
import type { Syntax } from './syntax.js';
import { X12Syntax } from './x12.js';

export interface ReaderOptions {
  /** Called with each interchange as it ends, in file order. */
  readonly onInterchange: (interchange: Interchange) => void;
  /** Which syntax is accepted; default: whatever the first interchange is. */
  readonly syntax?: 'edifact' | 'x12';
  /** Default `warn`. */
  readonly checks?: Checks;
  /** Compute the SHA-256 of each interchange; default true. */
  readonly digest?: boolean;
}

const BOM = [0xef, 0xbb, 0xbf];
/** The end-of-file character of old writers, tolerated behind the last interchange. */
const SUB = 0x1a;

/**
 * Reads the envelopes of a file or body of EDIFACT or X12 interchanges while it arrives. The result does not depend on
 * how the bytes are split; memory does not grow with the file. Throws EdiBroken, after which the reader is of no use.
 */
export class InterchangeReader {
  readonly #options: ReaderOptions;
  #syntax: Syntax | undefined;
  #scanner: SegmentScanner | undefined;
  /** File offset of the next chunk's first byte. */
  #base = 0;
  /** Inside an interchange's segments; otherwise at the head of one, or between two. */
  #inside = false;
  #head: number[] = [];
  #need = 3;
  #start = 0;
  #hash: Hash | undefined;
  /** The digest without the line breaks that came last, where any did. */
  #solid: Hash | undefined;
  #seen = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Interchanges read so far. */
  get count(): number {
    return this.#seen;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.length) at = this.#inside ? this.#segments(bytes, at) : this.#opening(bytes, at);
    this.#base += bytes.length;
  }

  /** The file has ended: throws where it ended too early or held no interchange. */
  end(): void {
    const offset = this.#base;
    if (this.#inside) this.#endInside(offset);
    if (this.#head.length > 0) {
      throw new EdiBroken(this.#seen === 0 ? 'neither UNA, UNB nor ISA: too short' : 'bytes that are no interchange', this.#nowhere());
    }
    if (this.#seen === 0) throw new EdiBroken('the file holds no interchange', { segment: 0, tag: '', offset });
  }

  /** Some writers leave out the terminator of the last trailer: that is all that may be missing. */
  #endInside(offset: number): void {
    const place = this.#scanner?.place(offset) ?? { segment: 0, tag: '', offset };
    const trailer = this.#scanner?.unterminated;
    const bytes = trailer?.subarray(0, trailer.length - blankTail(trailer));
    const syntax = this.#syntax;
    if (syntax === undefined || bytes === undefined || !syntax.unterminated(bytes, place)) {
      throw new EdiBroken(`the file ends inside the interchange that begins at offset ${this.#start}${syntax?.remark ?? ''}`, { ...place, offset });
    }
    this.#finish(syntax, place.offset + bytes.length, this.#solid ?? this.#hash, place.segment);
  }

  #nowhere() {
    return { segment: 0, tag: '', offset: this.#start };
  }

  /** Between interchanges and in their heads: byte by byte, since only few are needed. */
  #opening(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0;
      const offset = this.#base + at;
      at += 1;
      if (this.#head.length === 0) {
        if (isSpace(byte) || (byte === SUB && this.#seen > 0)) continue;
        this.#start = offset;
      }
      this.#head.push(byte);
      if (this.#head.length < this.#need) continue;
      // files that were joined keep their byte order marks
      if (BOM.every((b, i) => this.#head[i] === b)) {
        this.#head = [];
        continue;
      }
      if (this.#begin(Buffer.from(this.#head))) return at;
    }
    return at;
  }

  #begin(head: Buffer): boolean {
    if (this.#head.length === 3) this.#choose(head);
    const syntax = this.#syntax;
    if (syntax === undefined) throw new EdiBroken('neither UNA, UNB nor ISA', this.#nowhere());
    const answer = syntax.head(head, this.#start);
    if ('need' in answer) {
      this.#need = answer.need;
      return false;
    }
    this.#hash = this.#options.digest === false ? undefined : createHash('sha256').update(head);
    this.#solid = undefined;
    this.#scanner ??= new SegmentScanner(syntax, syntax.wanted);
    this.#scanner.begin(answer.ending, answer.read);
    this.#inside = true;
    this.#head = [];
    this.#need = 3;
    this.#scanner.scan(head, this.#start, answer.from);
    return true;
  }

  /** Which syntax the first three bytes of an interchange belong to; the first interchange decides for the file. */
  #choose(head: Buffer): void {
    const tag = head.toString('latin1');
    const found = tag === 'ISA' ? 'x12' : tag === 'UNA' || tag === 'UNB' ? 'edifact' : undefined;
    const place = this.#nowhere();
    if (found === undefined) {
      const charset = foreignCharset(head);
      if (charset !== undefined) {
        throw new EdiBroken(`the file is in ${charset}; EDI envelopes are read in ASCII-based character sets only`, place);
      }
      if (head.includes(0)) throw new EdiBroken('NUL byte', { ...place, offset: this.#start + head.indexOf(0) });
      if (tag === 'UIB') throw new EdiBroken(INTERACTIVE, place);
      throw new EdiBroken(this.#seen === 0 ? 'begins neither with UNA, UNB nor with ISA' : 'bytes that are no interchange', place);
    }
    const wanted = this.#options.syntax;
    if (wanted !== undefined && wanted !== found) throw new EdiBroken(`${found} where ${wanted} was expected`, place);
    const checks = this.#options.checks ?? 'warn';
    this.#syntax ??= found === 'edifact' ? new EdifactSyntax(checks) : new X12Syntax(checks);
    if (this.#syntax.name !== found) throw new EdiBroken('EDIFACT and X12 interchanges in one file', place);
  }

  #segments(bytes: Buffer, from: number): number {
    const scanner = this.#scanner;
    const syntax = this.#syntax;
    if (scanner === undefined || syntax === undefined) return bytes.length;
    const to = scanner.scan(bytes, this.#base, from);
    this.#digest(bytes.subarray(from, to));
    if (scanner.stopped) this.#finish(syntax, this.#base + to, this.#hash, scanner.count);
    return to;
  }

  /** Where the bytes end in line breaks, the digest before them is kept: with the file's end they belong to nobody. */
  #digest(bytes: Buffer): void {
    const solid = bytes.length - blankTail(bytes);
    if (solid > 0) this.#solid = undefined;
    this.#hash?.update(bytes.subarray(0, solid));
    if (solid === bytes.length) return;
    this.#solid ??= this.#hash?.copy();
    this.#hash?.update(bytes.subarray(solid));
  }

  #finish(syntax: Syntax, end: number, hash: Hash | undefined, segments: number): void {
    this.#inside = false;
    this.#seen += 1;
    const extent = { start: this.#start, end, sha256: hash?.digest('hex') ?? '' };
    this.#options.onInterchange(syntax.finish(extent, segments));
  }
}

/** How many bytes at the end are line breaks, blanks or an end-of-file character. */
function blankTail(bytes: Uint8Array): number {
  let at = bytes.length;
  while (at > 0 && (isSpace(bytes[at - 1] ?? 0) || bytes[at - 1] === SUB)) at -= 1;
  return bytes.length - at;
}

/** Names a character set in which a reader of ASCII envelopes would find nothing. */
function foreignCharset(head: Uint8Array): string | undefined {
  const [a, b, c] = head;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) || (a !== 0 && b === 0 && c !== 0) || (a === 0 && b !== 0)) {
    return 'UTF-16';
  }
  // UNA, UNB and ISA in EBCDIC
  if ((a === 0xe4 && b === 0xd5 && (c === 0xc1 || c === 0xc2)) || (a === 0xc9 && b === 0xe2 && c === 0xc1)) return 'EBCDIC';
  return undefined;
}
