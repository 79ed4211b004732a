import { EdiBroken, type Place } from './broken.js';

/** Longest segment, bytes. Free text and coded pictures stay far below; binary objects announce their length. */
export const LONGEST_SEGMENT = 1024 * 1024;

/** Bytes kept of a segment that spans chunks. Envelope segments are shorter; of others only the tag matters. */
const KEPT = 8 * 1024;

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** Line breaks, indentation and padding that writers put between segments. */
export function isSpace(byte: number): boolean {
  return byte === LF || byte === CR || byte === SPACE || byte === TAB;
}

/** What a scanner asks about two first bytes of a segment. */
export const IGNORED = 0;
export const WANTED = 1;
/** Wanted, and may announce raw bytes that hold anything, terminators and NUL included (X12 BIN and BDS). */
export const BINARY = 2;

/** Lookup by the first two bytes of a tag: cheap enough to run for each of millions of segments. */
export function tagTable(wanted: readonly string[], binary: readonly string[] = []): Uint8Array {
  const table = new Uint8Array(0x1_00_00);
  for (const tag of wanted) table[(tag.charCodeAt(0) << 8) | tag.charCodeAt(1)] = WANTED;
  for (const tag of binary) table[(tag.charCodeAt(0) << 8) | tag.charCodeAt(1)] = BINARY;
  return table;
}

export interface SegmentSink {
  /**
   * A wanted segment without its terminator (at most 8 KiB of it), valid during the call only. Returns how many raw
   * bytes follow that are no segments, or `stop` where the interchange ends.
   */
  segment(bytes: Buffer, place: Place): number | 'stop';
  /** For a `BINARY` tag: how many raw bytes follow this beginning; `more` to see one byte more; undefined: none. */
  rawBehind(beginning: Uint8Array): number | 'more' | undefined;
}

/** What ends a segment: bytes; `release` is -1 where the syntax has no release character. */
export interface Ending {
  readonly terminator: number;
  readonly release: number;
}

/**
 * Cuts a stream into segments. It looks for terminators only, holds at most 8 KiB, and gives the same segments however
 * the stream is split into chunks.
 */
export class SegmentScanner {
  /** Segments completed since `begin`. */
  count = 0;
  /** The sink said stop: the interchange has ended. */
  stopped = false;
  readonly #sink: SegmentSink;
  readonly #wanted: Uint8Array;
  readonly #held = Buffer.allocUnsafe(KEPT);
  #heldLength = 0;
  #ending: Ending = { terminator: 0x27, release: -1 };
  #open = false;
  /** Offset of the open segment's first byte. */
  #start = 0;
  /** The open segment's bytes so far end with an odd number of release characters. */
  #odd = false;
  /** Still waiting to know whether raw bytes follow inside the open segment. */
  #asking = false;
  /** Raw bytes still to pass over; `#inside` says whether they belong to the open segment. */
  #raw = 0;
  #inside = false;
  /** Raw bytes inside the open segment, which its bound does not count. */
  #allowed = 0;

  constructor(sink: SegmentSink, wanted: Uint8Array) {
    this.#sink = sink;
    this.#wanted = wanted;
  }

  /** A new interchange begins; `count` segments of it were read elsewhere. */
  begin(ending: Ending, count: number): void {
    this.#ending = ending;
    this.count = count;
    this.stopped = false;
    this.#open = false;
    this.#heldLength = 0;
    this.#odd = false;
    this.#asking = false;
    this.#raw = 0;
    this.#inside = false;
  }

  /** The place of the open segment, or of the end of the last one. */
  place(offset: number): Place {
    if (!this.#open) return { segment: this.count, tag: '', offset };
    return { segment: this.count + 1, tag: tagOf(this.#held.subarray(0, Math.min(this.#heldLength, 3))), offset: this.#start };
  }

  /** The open segment, as far as the file goes; undefined where there is none, or more of it than is kept. */
  get unterminated(): Buffer | undefined {
    return this.#open && this.#raw === 0 && this.#heldLength < KEPT ? this.#held.subarray(0, this.#heldLength) : undefined;
  }

  /** Scans a chunk whose first byte has file offset `base`, from index `from`. Returns where the sink said stop, or the length. */
  scan(chunk: Buffer, base: number, from: number): number {
    let at = from;
    let nul = chunk.indexOf(0, at);
    while (at < chunk.length) {
      if (this.#raw > 0) {
        const passed = Math.min(this.#raw, chunk.length - at);
        this.#raw -= passed;
        at += passed;
        if (nul !== -1 && nul < at) nul = chunk.indexOf(0, at);
        continue;
      }
      if (this.#inside) this.#endOfRaw(chunk[at] ?? 0, base + at);
      if (!this.#open) {
        at = this.#pass(chunk, at, base, nul === -1 ? chunk.length : nul);
        if (this.stopped) return at;
        if (this.#raw > 0 || at >= chunk.length) continue;
        const byte = chunk[at] ?? 0;
        if (byte === this.#ending.terminator || isSpace(byte)) {
          at += 1;
          continue;
        }
        this.#openAt(base + at);
      }
      if (this.#asking) {
        at = this.#ask(chunk, at, base);
        if (this.#asking || this.#raw > 0) continue;
      }
      const end = this.#findEnd(chunk, at);
      const partEnd = end === -1 ? chunk.length : end;
      this.#check(chunk, at, base, partEnd, nul);
      if (end === -1) {
        this.#hold(chunk, at, chunk.length);
        return chunk.length;
      }
      this.#close(chunk, at, end);
      at = end + 1;
      if (this.stopped) return at;
    }
    return chunk.length;
  }

  /**
   * The fast way through what most of a file is: segments that lie whole in the chunk and before `limit`. Returns the
   * index of the first byte it could not pass. Its locals and its few compares are the reader's speed.
   */
  #pass(chunk: Buffer, from: number, base: number, limit: number): number {
    const { terminator, release } = this.#ending;
    const wanted = this.#wanted;
    let at = from;
    let passed = 0;
    for (let end = chunk.indexOf(terminator, at); end !== -1 && end <= limit; end = chunk.indexOf(terminator, at)) {
      let byte = chunk[at] as number;
      while (byte <= SPACE && at < end && isSpace(byte)) {
        at += 1;
        byte = chunk[at] as number;
      }
      if (at < end) {
        const kind = wanted[(byte << 8) | (chunk[at + 1] as number)];
        if (kind === BINARY) break;
        if (release !== -1 && chunk[end - 1] === release) end = this.#afterReleased(chunk, at, end);
        if (end === -1 || end > limit || end - at > LONGEST_SEGMENT) break;
        passed += 1;
        if (kind === WANTED) {
          this.count += passed;
          passed = 0;
          this.#give(chunk.subarray(at, Math.min(end, at + KEPT)), base + at);
          if (this.stopped || this.#raw > 0) return end + 1;
        }
      }
      at = end + 1;
    }
    this.count += passed;
    return at;
  }

  #give(bytes: Buffer, start: number): void {
    const next = this.#sink.segment(bytes, { segment: this.count, tag: tagOf(bytes), offset: start });
    if (next === 'stop') this.stopped = true;
    else this.#raw = next;
  }

  #openAt(offset: number): void {
    this.#open = true;
    this.#start = offset;
    this.#heldLength = 0;
    this.#odd = false;
    this.#asking = true;
    this.#allowed = 0;
  }

  /** Takes bytes one by one until the first two tell that the tag is not binary, or the sink knows the raw length. */
  #ask(chunk: Buffer, from: number, base: number): number {
    let at = from;
    while (at < chunk.length) {
      const byte = chunk[at] ?? 0;
      if (this.#heldLength >= 2) {
        const kind = this.#wanted[((this.#held[0] ?? 0) << 8) | (this.#held[1] ?? 0)];
        const raw = kind === BINARY ? this.#sink.rawBehind(this.#held.subarray(0, this.#heldLength)) : undefined;
        if (raw !== 'more') {
          this.#asking = false;
          this.#raw = raw ?? 0;
          this.#allowed = this.#raw;
          this.#inside = raw !== undefined;
          return at;
        }
      }
      if (byte === this.#ending.terminator || byte === 0 || this.#heldLength >= KEPT) {
        this.#asking = false;
        return at;
      }
      if (this.#heldLength === 0) this.#start = base + at;
      this.#held[this.#heldLength++] = byte;
      this.#odd = byte === this.#ending.release && !this.#odd;
      at += 1;
    }
    return at;
  }

  #endOfRaw(byte: number, offset: number): void {
    this.#inside = false;
    if (byte !== this.#ending.terminator) {
      throw new EdiBroken('the announced length of the binary data does not end at a segment terminator', { ...this.place(offset), offset });
    }
  }

  #findEnd(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(this.#ending.terminator, from);
    return this.#ending.release === -1 ? end : this.#afterReleased(chunk, from, end);
  }

  /** `found`, or the next terminator that no release character takes its meaning from; -1 if there is none. */
  #afterReleased(chunk: Buffer, from: number, found: number): number {
    let end = found;
    while (end !== -1 && this.#released(chunk, from, end)) end = chunk.indexOf(this.#ending.terminator, end + 1);
    return end;
  }

  /** Whether an odd number of release characters stands before `end`; those before `from` are in `#odd`. */
  #released(chunk: Buffer, from: number, end: number): boolean {
    let at = end;
    while (at > from && chunk[at - 1] === this.#ending.release) at -= 1;
    const odd = (end - at) % 2 === 1;
    return at === from && this.#odd ? !odd : odd;
  }

  #check(chunk: Buffer, from: number, base: number, end: number, nul: number): void {
    const bound = this.#start + this.#allowed + LONGEST_SEGMENT - base;
    const tooLong = end > bound;
    if (nul !== -1 && nul < end && (!tooLong || nul <= bound)) {
      this.#hold(chunk, from, nul);
      throw new EdiBroken('NUL byte', { ...this.place(base + nul), offset: base + nul });
    }
    if (tooLong) {
      this.#hold(chunk, from, end);
      throw new EdiBroken(`no segment terminator within ${LONGEST_SEGMENT} bytes`, this.place(this.#start));
    }
  }

  #hold(chunk: Buffer, from: number, end: number): void {
    this.#odd = this.#ending.release !== -1 && this.#released(chunk, from, end);
    const taken = Math.min(end - from, KEPT - this.#heldLength);
    chunk.copy(this.#held, this.#heldLength, from, from + taken);
    this.#heldLength += taken;
  }

  /** The open segment, held so far, ends in this chunk. */
  #close(chunk: Buffer, from: number, end: number): void {
    this.#hold(chunk, from, end);
    this.#open = false;
    this.#asking = false;
    this.#odd = false;
    this.count += 1;
    const bytes = this.#held.subarray(0, this.#heldLength);
    if (this.#wanted[((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)] !== IGNORED) this.#give(bytes, this.#start);
  }
}

/** The letters and digits a segment begins with, for messages to people. */
export function tagOf(bytes: Uint8Array): string {
  const a = bytes[0];
  const b = bytes[1];
  const c = bytes[2];
  if (!isAlphanumeric(a)) return '';
  if (!isAlphanumeric(b)) return String.fromCharCode(a);
  return isAlphanumeric(c) ? String.fromCharCode(a, b, c) : String.fromCharCode(a, b);
}

function isAlphanumeric(byte: number | undefined): byte is number {
  if (byte === undefined) return false;
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a);
}
