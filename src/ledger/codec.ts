import { As4OnceError } from '../errors.js';
import type { LedgerRecord, State, StoredReply } from './record.js';

/**
 * A record as bytes. The head is fixed-width ASCII, so that counting a copy is one write in place (Redis SETRANGE) and
 * the guard of a compare-and-set is a range of it; the reply's bytes stay raw at the end. The head is the same in every
 * format; what a format may change is the JSON.
 *
 *   0 magic and format "A4O1" · 4 version(16) · 20 copies(10) · 30 lastSeen(15) · 45 leaseUntil(15) · 60 keptUntil(15)
 *   75 state letter · 76 "\n" · JSON without those fields · "\n" · reply, raw DEFLATE
 *
 * Numbers are decimal with leading zeros; an absent leaseUntil is all zeros.
 */
export const HEAD = {
  magic: 'A4O',
  /** The first format; which ones there are, see knownFormats. */
  format: '1',
  letter: { at: 3, width: 1 },
  version: { at: 4, width: 16 },
  copies: { at: 20, width: 10 },
  lastSeen: { at: 30, width: 15 },
  leaseUntil: { at: 45, width: 15 },
  keptUntil: { at: 60, width: 15 },
  state: { at: 75, width: 1 },
  length: 77,
} as const;

const LETTERS: Readonly<Record<State, string>> = { claimed: 'c', open: 'o', held: 'h', settled: 's', known: 'k' };
const STATES: Readonly<Record<string, State>> = { c: 'claimed', o: 'open', h: 'held', s: 'settled', k: 'known' };
const NEWLINE = 0x0a;
const NO_REPLY: StoredReply = { status: 0, contentType: '', deflated: new Uint8Array(), length: 0, sha256: '' };

export const digits = (value: number, width: number): string => String(Math.trunc(value)).padStart(width, '0');
export const versionText = (version: number): string => digits(version, HEAD.version.width);

export type RecordBody = Omit<LedgerRecord, 'version' | 'copies' | 'lastSeen' | 'leaseUntil' | 'keptUntil' | 'state' | 'format' | 'reply'> & {
  readonly reply?: Omit<StoredReply, 'deflated'>;
};

/** One written form of a record's body, named by one character of the head. */
export interface RecordFormat {
  readonly letter: string;
  write(body: RecordBody): unknown;
  read(json: unknown): RecordBody;
}

/** The body as it is. */
const FORMAT_1: RecordFormat = { letter: HEAD.format, write: (body) => body, read: (json) => json as RecordBody };

/** What this release reads, oldest first. It writes the format that the ledger names, and a new ledger names the newest. */
let formats: readonly RecordFormat[] = [FORMAT_1];

/** The formats of this release, oldest first. */
export const knownFormats = (): readonly RecordFormat[] => formats;
export const newestFormat = (): string => formats.at(-1)?.letter ?? FORMAT_1.letter;
/** What another release would know: how upgrades are tested before there is a second format. */
export const pretendFormats = (others: readonly RecordFormat[]): void => void (formats = others);

/** @throws As4OnceError RECORD_UNREADABLE where a ledger is written in a format that this release does not know. */
export function knownFormat(letter: string): RecordFormat {
  const format = formats.find((known) => known.letter === letter);
  if (format === undefined) throw unreadable(`its format ${JSON.stringify(letter)} is newer than this release reads`);
  return format;
}

export function encodeRecord(record: LedgerRecord, letter: string = newestFormat()): Buffer {
  const { format: _format, version, copies, lastSeen, leaseUntil, keptUntil, state, reply, ...rest } = record;
  const { deflated, ...replyHead } = reply ?? NO_REPLY;
  const body = JSON.stringify(knownFormat(letter).write(reply === undefined ? rest : { ...rest, reply: replyHead }));
  const kept = keptUntil ?? record.born + record.window + record.late;
  const head = HEAD.magic + letter + versionText(version) + digits(copies, HEAD.copies.width)
    + digits(lastSeen, HEAD.lastSeen.width) + digits(leaseUntil ?? 0, HEAD.leaseUntil.width)
    + digits(kept, HEAD.keptUntil.width) + LETTERS[state];
  const text = Buffer.from(`${head}\n${body}\n`);
  return deflated.length === 0 ? text : Buffer.concat([text, deflated]);
}

/** @throws As4OnceError RECORD_UNREADABLE where the bytes are no record, or of a newer format (G9): never "new". */
export function decodeRecord(bytes: Uint8Array): LedgerRecord {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = formatOf(buffer);
  const end = buffer.indexOf(NEWLINE, HEAD.length);
  const state = STATES[field(buffer, HEAD.state)];
  if (end < 0 || state === undefined) throw unreadable('its head is damaged');
  // nobody else has the object that was just parsed, so it is completed in place: this runs for every message
  const record = readBody(format, buffer.toString('utf8', HEAD.length, end)) as { -readonly [K in keyof LedgerRecord]: LedgerRecord[K] };
  record.format = 1;
  record.version = number(buffer, HEAD.version);
  record.state = state;
  record.copies = number(buffer, HEAD.copies);
  record.lastSeen = number(buffer, HEAD.lastSeen);
  record.keptUntil = number(buffer, HEAD.keptUntil);
  const leaseUntil = number(buffer, HEAD.leaseUntil);
  if (leaseUntil !== 0) record.leaseUntil = leaseUntil;
  if (record.reply !== undefined) record.reply = { ...record.reply, deflated: new Uint8Array(buffer.subarray(end + 1)) };
  return record;
}

/** The version in the head, for a guard that need not read the rest. */
export const versionOf = (bytes: Buffer): number => number(bytes, HEAD.version);

/** Until when it is kept whatever else its body says, from the head alone. */
export const keptUntilOf = (bytes: Buffer): number => number(bytes, HEAD.keptUntil);

/** Writes the count of copies in place; everything else, the version included, stays. */
export function countInPlace(bytes: Uint8Array, count: { copies: number; lastSeen: number }): Buffer {
  const copy = Buffer.from(bytes);
  copy.write(digits(count.copies, HEAD.copies.width), HEAD.copies.at, 'latin1');
  copy.write(digits(count.lastSeen, HEAD.lastSeen.width), HEAD.lastSeen.at, 'latin1');
  return copy;
}

function formatOf(buffer: Buffer): RecordFormat {
  const magic = buffer.toString('latin1', 0, HEAD.magic.length);
  if (magic !== HEAD.magic) throw unreadable('it is no record of as4-once');
  return knownFormat(field(buffer, HEAD.letter));
}

function readBody(format: RecordFormat, text: string): RecordBody {
  let body: RecordBody;
  try {
    body = format.read(JSON.parse(text));
  } catch (cause) {
    throw unreadable('its body is damaged', cause);
  }
  const { key, attempts, born, window } = (body ?? {}) as Partial<RecordBody>;
  const whole = typeof key === 'string' && Array.isArray(attempts) && typeof born === 'number' && typeof window === 'number';
  if (!whole) throw unreadable('its body lacks a field');
  return body;
}

const field = (buffer: Buffer, { at, width }: { at: number; width: number }): string => buffer.toString('latin1', at, at + width);

function number(buffer: Buffer, place: { at: number; width: number }): number {
  const text = field(buffer, place);
  if (!/^\d+$/.test(text)) throw unreadable('its head is damaged');
  return Number(text);
}

const unreadable = (why: string, cause?: unknown): As4OnceError =>
  new As4OnceError('RECORD_UNREADABLE', `the stored record cannot be read: ${why}`, cause === undefined ? {} : { cause });
