import { As4OnceError } from '../errors.js';
import type { HeaderList } from '../exchange.js';
import type { Limits } from '../limits.js';
import { transferEncoding } from './transfer-encoding.js';
import type { TransferEncoding } from './transfer-encoding.js';

/** The header block of one MIME part (RFC 2045, 3; RFC 5322, 2.2). */
export interface PartHead {
  /** 0 for the root part. */
  readonly index: number;
  /** Fields in order, unfolded, values trimmed. */
  readonly fields: HeaderList;
  readonly contentType?: string;
  /** As written, trimmed; compare with comparableId. */
  readonly contentId?: string;
  readonly encoding: TransferEncoding;
}

const LF = 0x0a;
const CR = 0x0d;
/** Fields that decide how a part is read: two different values are refused. */
const DECISIVE = ['content-type', 'content-transfer-encoding', 'content-id'];

/** Collects the header block of one part from chunks of any split; linear, and bounded by limits.partHeaders. */
export class PartHeadReader {
  readonly #index: number;
  readonly #limits: Limits;
  readonly #fields: [name: string, value: string][] = [];
  #line: Uint8Array[] = [];
  #bytes = 0;

  constructor(index: number, limits: Limits) {
    this.#index = index;
    this.#limits = limits;
  }

  /**
   * Reads from `data` at `from`. Returns the index behind the blank line once the block is complete, or -1.
   * `isDelimiter` tells whether a line is a boundary delimiter, which must not come before the blank line.
   */
  read(data: Uint8Array, from: number, isDelimiter: (line: string) => boolean): number {
    let at = from;
    while (at < data.length) {
      const end = data.indexOf(LF, at);
      const stop = end < 0 ? data.length : end + 1;
      this.#bytes += stop - at;
      if (this.#bytes > this.#limits.partHeaders) {
        throw this.#broken(`headers are longer than ${this.#limits.partHeaders} bytes`);
      }
      this.#line.push(data.subarray(at, stop));
      at = stop;
      if (end < 0) {
        // The chunk may be reused by its owner, so what is kept is a copy.
        this.#line[this.#line.length - 1] = Buffer.from(this.#line.at(-1)!);
        return -1;
      }
      const line = this.#takeLine();
      if (line === '') return at;
      if (isDelimiter(line)) throw this.#broken('headers do not end with an empty line');
      this.#field(line);
    }
    return -1;
  }

  head(): PartHead {
    const value = (name: string): string | undefined => this.#fields.find(([n]) => n.toLowerCase() === name)?.[1];
    const contentType = value('content-type');
    const contentId = value('content-id');
    return {
      index: this.#index,
      fields: this.#fields,
      ...(contentType === undefined ? {} : { contentType }),
      ...(contentId === undefined ? {} : { contentId }),
      encoding: transferEncoding(value('content-transfer-encoding')),
    };
  }

  #takeLine(): string {
    const bytes = this.#line.length === 1 ? this.#line[0]! : Buffer.concat(this.#line);
    this.#line = [];
    let end = bytes.length - 1;
    if (end > 0 && bytes[end - 1] === CR) end--;
    return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('latin1');
  }

  #field(line: string): void {
    // Some receivers take a CR alone for a line end, and would see one more field here.
    if (/[\r\0]/.test(line)) throw this.#broken('a header line holds a CR or NUL');
    if (line[0] === ' ' || line[0] === '\t') {
      const last = this.#fields.at(-1);
      if (last === undefined) throw this.#broken('the first header line begins with white space');
      last[1] = `${last[1]} ${line.trim()}`.trim();
      return;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trimEnd();
    if (colon < 0 || !/^[\x21-\x39\x3b-\x7e]+$/.test(name)) {
      throw this.#broken('a header line has no field name');
    }
    const value = line.slice(colon + 1).trim();
    const lower = name.toLowerCase();
    if (DECISIVE.includes(lower) && this.#fields.some(([n, v]) => n.toLowerCase() === lower && v !== value)) {
      throw this.#broken(`two values of ${lower}`);
    }
    this.#fields.push([name, value]);
  }

  #broken(detail: string): As4OnceError {
    return new As4OnceError('MIME_BROKEN', `part ${this.#index}: ${detail}`);
  }
}
