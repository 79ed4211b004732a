import { As4OnceError } from '../errors.js';
import type { Limits } from '../limits.js';
import { comparableId } from './content-type.js';
import { PartHeadReader } from './part-head.js';
import type { PartHead } from './part-head.js';
import { decoderFor } from './transfer-encoding.js';
import type { Decoder } from './transfer-encoding.js';

/**
 * A push scanner of multipart/related (RFC 2046, 5.1; RFC 2387). It takes the body in chunks of any split and calls
 * back as parts go by, so that nothing but the part in hand is ever kept, and that only if the caller keeps it. Lines
 * end in CRLF or LF; preamble, byte order mark and epilogue are skipped. Work is linear in the bytes.
 */
export interface PartEvents {
  /** A part begins. */
  head(head: PartHead): void;
  /** Content of the part begun last. The view is only valid during the call. */
  data(bytes: Uint8Array): void;
  /** The part is complete: its delimiter was read. */
  end(head: PartHead): void;
}

export interface ScanOptions {
  readonly boundary: string;
  /** `start` parameter: if it names another part than the first, MIME_START. */
  readonly start?: string;
  /** False: data is handed out as it stands in the package, with its Content-Transfer-Encoding. Default true. */
  readonly decode?: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;
/** Longest white space behind a boundary on its line. */
const MAX_PADDING = 1000;
const BOM = [0xef, 0xbb, 0xbf];
const NOTHING = new Uint8Array(0);

type State = 'preamble' | 'delimiter' | 'head' | 'body' | 'epilogue';

export class MimeScanner {
  readonly #events: PartEvents;
  readonly #options: ScanOptions;
  readonly #limits: Limits;
  /** `--boundary` */
  readonly #dashed: Buffer;
  readonly #isDelimiter = (line: string): boolean => line.startsWith(`--${this.#options.boundary}`);
  readonly #start: string | undefined;
  #state: State = 'preamble';
  /** Bytes at the end of the last chunk that may belong to a delimiter: [CR] LF and a beginning of `--boundary`. */
  #held: Uint8Array = NOTHING;
  /** The next byte is the first of a line: a delimiter may stand here without a line end before it. */
  #atLineStart = true;
  #headReader: PartHeadReader | undefined;
  #part: PartHead | undefined;
  #decoder: Decoder | undefined;
  #parts = 0;
  /** What came behind the boundary on its line: '' | '-' | ' ' (padding) | '\r'. */
  #behind = '';
  #padding = 0;
  #first = true;
  /** Whether the boundary lines end in CRLF, or in LF alone: all of them alike. */
  #crlf: boolean | undefined;
  /** What the preamble ended in so far, shorter than `--boundary`. */
  #preambleTail: Uint8Array = NOTHING;
  /** Bytes before the first boundary and behind the last one. */
  preambleBytes = 0;
  epilogueBytes = 0;

  constructor(events: PartEvents, options: ScanOptions, limits: Limits) {
    this.#events = events;
    this.#options = options;
    this.#limits = limits;
    this.#dashed = Buffer.from(`--${options.boundary}`, 'latin1');
    this.#start = options.start === undefined ? undefined : comparableId(options.start);
  }

  /** Parts that began so far. */
  get parts(): number {
    return this.#parts;
  }

  /** The closing delimiter was read. */
  get closed(): boolean {
    return this.#state === 'epilogue';
  }

  /** Throws MIME_BROKEN, MIME_START or TOO_MANY_PARTS. What the callbacks throw goes through. */
  push(chunk: Uint8Array): void {
    let data = chunk;
    if (this.#held.length > 0) {
      data = Buffer.concat([this.#held, chunk]);
      this.#held = NOTHING;
    }
    let at = 0;
    while (at < data.length) {
      switch (this.#state) {
        case 'preamble':
        case 'body':
          at = this.#content(data, at);
          break;
        case 'delimiter':
          at = this.#behindBoundary(data, at);
          break;
        case 'head':
          at = this.#header(data, at);
          break;
        case 'epilogue':
          this.epilogueBytes += data.length - at;
          return;
      }
    }
  }

  /** Throws MIME_BROKEN unless the closing delimiter was read; its own line end may be missing. */
  end(): void {
    if (this.#state !== 'epilogue') {
      const where = this.#parts === 0 ? 'no boundary line' : `closing boundary missing after part ${this.#parts - 1}`;
      throw new As4OnceError('MIME_BROKEN', where);
    }
  }

  /** Reads preamble or part content up to the next boundary; returns where to go on. */
  #content(data: Uint8Array, from: number): number {
    let begin = from;
    if (this.#first) {
      const bom = BOM.findIndex((byte, i) => data[from + i] !== byte);
      if (bom === data.length - from) {
        // as far as there are bytes, they begin a byte order mark
        this.#held = Buffer.from(data.subarray(from));
        return data.length;
      }
      this.#first = false;
      if (bom < 0) {
        this.preambleBytes += 3;
        begin = from + 3;
      }
    }
    let line = begin;
    if (!this.#atLineStart) {
      const end = findLineEnd(data, begin);
      if (end < 0) return this.#keepTail(data, begin, data.length);
      line = end + 1;
    }
    for (;;) {
      // Most lines do not even begin with '-': the next line end is looked for without further ado.
      while (line < data.length && data[line] !== DASH) {
        this.#atLineStart = false;
        const end = findLineEnd(data, line);
        if (end < 0) return this.#keepTail(data, begin, data.length);
        line = end + 1;
      }
      const matched = this.#match(data, line);
      if (matched === this.#dashed.length) {
        this.#endContent(data, begin, line);
        return line + matched;
      }
      if (line + matched === data.length) return this.#keepTail(data, begin, line);
      this.#atLineStart = false;
      const end = findLineEnd(data, line + matched);
      if (end < 0) return this.#keepTail(data, begin, data.length);
      line = end + 1;
    }
  }

  /** How many bytes at `at` are the beginning of `--boundary`. */
  #match(data: Uint8Array, at: number): number {
    const most = Math.min(this.#dashed.length, data.length - at);
    let n = 0;
    while (n < most && data[at + n] === this.#dashed[n]) n++;
    return n;
  }

  /** Hands out all but what may still turn out to be a delimiter: the line that begins at `line`, or a final CR. */
  #keepTail(data: Uint8Array, begin: number, line: number): number {
    let keep = line;
    if (line < data.length || (line > begin && data[line - 1] === LF)) {
      if (this.#atLineStart && line === begin) {
        this.#held = Buffer.from(data.subarray(line));
        return data.length;
      }
      keep = line - 1;
      if (keep > begin && data[keep - 1] === CR) keep--;
    } else if (line > begin && data[line - 1] === CR) {
      keep = line - 1;
    }
    this.#emit(data.subarray(begin, keep));
    this.#held = keep === data.length ? NOTHING : Buffer.from(data.subarray(keep));
    if (keep > begin) this.#atLineStart = false;
    return data.length;
  }

  /** `line` is where the boundary begins: what comes before it, without its line end, is content. */
  #endContent(data: Uint8Array, begin: number, line: number): void {
    let end = line;
    if (end > begin) {
      // The line end before a boundary belongs to the boundary (RFC 2046, 5.1.1), but the preamble counts it.
      if (this.#state === 'body') {
        end--;
        if (end > begin && data[end - 1] === CR) end--;
      }
      if (this.#state === 'preamble') this.#agree(end - 1 > begin && data[end - 2] === CR);
      this.#emit(data.subarray(begin, end));
    }
    this.#finishPart();
    this.#state = 'delimiter';
    this.#behind = '';
    this.#padding = 0;
  }

  #emit(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#state === 'preamble') {
      this.preambleBytes += bytes.length;
      this.#mustBeNoBoundary(bytes);
    } else {
      const decoded = this.#decoder === undefined ? bytes : this.#decoder.push(bytes);
      if (decoded.length > 0) this.#events.data(decoded);
    }
  }

  /** Some receivers take `--boundary` within a line of the preamble for the first one, and would read another root. */
  #mustBeNoBoundary(preamble: Uint8Array): void {
    const seen = Buffer.concat([this.#preambleTail, preamble]);
    if (seen.includes(this.#dashed))
      throw new As4OnceError('MIME_BROKEN', 'the preamble holds the boundary within a line');
    this.#preambleTail = seen.subarray(Math.max(0, seen.length - this.#dashed.length + 1));
  }

  /** Where the ends of boundary lines differ, receivers differ in which of them they see, and so in what the root is. */
  #agree(crlf: boolean): void {
    this.#crlf ??= crlf;
    if (this.#crlf !== crlf) throw new As4OnceError('MIME_BROKEN', 'some boundary lines end in CRLF, some in LF alone');
  }

  #finishPart(): void {
    const part = this.#part;
    if (part === undefined) return;
    const rest = this.#decoder?.end() ?? NOTHING;
    if (rest.length > 0) this.#events.data(rest);
    this.#part = undefined;
    this.#decoder = undefined;
    this.#events.end(part);
  }

  /**
   * Behind a boundary comes `--`, or white space and a line end. RFC 2046 forbids the boundary as the beginning of any
   * other line, and receivers differ in what they make of one, so it is refused.
   */
  #behindBoundary(data: Uint8Array, from: number): number {
    for (let at = from; at < data.length; at++) {
      const byte = data[at];
      if (byte === DASH && this.#behind === '-') {
        this.#state = 'epilogue';
        return at + 1;
      }
      if (byte === DASH && this.#behind === '') {
        this.#behind = '-';
      } else if (byte === LF && this.#behind !== '-') {
        this.#agree(this.#behind === '\r');
        this.#beginPart();
        return at + 1;
      } else if (byte === CR && (this.#behind === '' || this.#behind === ' ')) {
        this.#behind = '\r';
      } else if (isBlank(byte) && (this.#behind === '' || this.#behind === ' ') && ++this.#padding <= MAX_PADDING) {
        this.#behind = ' ';
      } else {
        throw new As4OnceError('MIME_BROKEN', `part ${this.#parts - 1}: a line begins with the boundary but goes on`);
      }
    }
    return data.length;
  }

  #beginPart(): void {
    if (this.#parts >= this.#limits.parts) throw new As4OnceError('TOO_MANY_PARTS', `more than ${this.#limits.parts}`);
    this.#headReader = new PartHeadReader(this.#parts++, this.#limits);
    this.#state = 'head';
  }

  #header(data: Uint8Array, from: number): number {
    const end = this.#headReader!.read(data, from, this.#isDelimiter);
    if (end < 0) return data.length;
    const head = this.#headReader!.head();
    this.#headReader = undefined;
    this.#checkStart(head);
    this.#part = head;
    const decode = this.#options.decode !== false && head.encoding !== 'identity';
    this.#decoder = decode ? decoderFor(head.encoding) : undefined;
    this.#state = 'body';
    this.#atLineStart = true;
    this.#events.head(head);
    return end;
  }

  #checkStart(head: PartHead): void {
    if (this.#start === undefined || head.contentId === undefined) return;
    if ((comparableId(head.contentId) === this.#start) !== (head.index === 0)) {
      const detail = head.index === 0 ? 'the first part has another Content-ID' : `it names part ${head.index}`;
      throw new As4OnceError('MIME_START', detail);
    }
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09;
}

/** Index of the next LF, or -1. A plain loop where line ends are dense, the built-in search where they are not. */
function findLineEnd(data: Uint8Array, from: number): number {
  const near = Math.min(from + 32, data.length);
  for (let i = from; i < near; i++) if (data[i] === LF) return i;
  return near === data.length ? -1 : data.indexOf(LF, near);
}
