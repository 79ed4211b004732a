import { As4OnceError } from '../errors.js';
import type { LedgerRecord, State, StoredReply } from './record.js';

/**
 * A record as bytes. The head is fixed-width ASCII, so that counting a copy is one write in place (Redis SETRANGE) and
 * the guard of a compare-and-set is a range of it; the reply's bytes stay raw at the end.
 *
 *   0 magic and format "A4O1" · 4 version(16) · 20 copies(10) · 30 lastSeen(15) · 45 leaseUntil(15) · 60 keptUntil(15)
 *   75 state letter · 76 "\n" · JSON without those fields · "\n" · reply, raw DEFLATE
 *
 * Numbers are decimal with leading zeros; an absent leaseUntil is all zeros.
 */
export const HEAD = {
  magic: 'A4O',
  format: '1',
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

export const digits = (value: number, width: number): string => String(Math.trunc(value)).padStart(width, '0');
export const versionText = (version: number): string => digits(version, HEAD.version.width);

type Body = Omit<LedgerRecord, 'version' | 'copies' | 'lastSeen' | 'leaseUntil' | 'keptUntil' | 'state' | 'format' | 'reply'> & {
  readonly reply?: Omit<StoredReply, 'deflated'>;
};

export function encodeRecord(record: LedgerRecord): Buffer {
  const { format: _format, version, copies, lastSeen, leaseUntil, keptUntil, state, reply, ...rest } = record;
  const { deflated, ...replyHead } = reply ?? { deflated: undefined };
  const body = JSON.stringify(reply === undefined ? rest : { ...rest, reply: replyHead });
  const kept = keptUntil ?? record.born + record.window + record.late;
  const head = HEAD.magic + HEAD.format + versionText(version) + digits(copies, HEAD.copies.width)
    + digits(lastSeen, HEAD.lastSeen.width) + digits(leaseUntil ?? 0, HEAD.leaseUntil.width)
    + digits(kept, HEAD.keptUntil.width) + LETTERS[state];
  const text = Buffer.from(`${head}\n${body}\n`);
  return deflated === undefined || deflated.length === 0 ? text : Buffer.concat([text, deflated]);
}

/** @throws As4OnceError RECORD_UNREADABLE where the bytes are no record, or of a newer format (G9): never "new". */
export function decodeRecord(bytes: Uint8Array): LedgerRecord {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkFormat(buffer);
  const end = buffer.indexOf(NEWLINE, HEAD.length);
  const state = STATES[field(buffer, HEAD.state)];
  if (end < 0 || state === undefined) throw unreadable('its head is damaged');
  const { reply, ...body } = readBody(buffer.toString('utf8', HEAD.length, end));
  const leaseUntil = number(buffer, HEAD.leaseUntil);
  return {
    ...body,
    format: 1,
    version: number(buffer, HEAD.version),
    state,
    copies: number(buffer, HEAD.copies),
    lastSeen: number(buffer, HEAD.lastSeen),
    keptUntil: number(buffer, HEAD.keptUntil),
    ...(leaseUntil === 0 ? {} : { leaseUntil }),
    ...(reply === undefined ? {} : { reply: { ...reply, deflated: new Uint8Array(buffer.subarray(end + 1)) } }),
  };
}

/** The version in the head, for a guard that need not read the rest. */
export const versionOf = (bytes: Buffer): number => number(bytes, HEAD.version);

/** Writes the count of copies in place; everything else, the version included, stays. */
export function countInPlace(bytes: Uint8Array, count: { copies: number; lastSeen: number }): Buffer {
  const copy = Buffer.from(bytes);
  copy.write(digits(count.copies, HEAD.copies.width), HEAD.copies.at, 'latin1');
  copy.write(digits(count.lastSeen, HEAD.lastSeen.width), HEAD.lastSeen.at, 'latin1');
  return copy;
}

function checkFormat(buffer: Buffer): void {
  const magic = buffer.toString('latin1', 0, HEAD.magic.length);
  const format = buffer.toString('latin1', HEAD.magic.length, HEAD.magic.length + 1);
  if (magic !== HEAD.magic) throw unreadable('it is no record of as4-once');
  if (format !== HEAD.format) throw unreadable(`its format ${JSON.stringify(format)} is newer than this release reads`);
}

function readBody(text: string): Body {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw unreadable('its body is damaged', cause);
  }
  const { key, attempts, born, window } = (body ?? {}) as Partial<Body>;
  const whole = typeof key === 'string' && Array.isArray(attempts) && typeof born === 'number' && typeof window === 'number';
  if (!whole) throw unreadable('its body lacks a field');
  return body as Body;
}

const field = (buffer: Buffer, { at, width }: { at: number; width: number }): string => buffer.toString('latin1', at, at + width);

function number(buffer: Buffer, place: { at: number; width: number }): number {
  const text = field(buffer, place);
  if (!/^\d+$/.test(text)) throw unreadable('its head is damaged');
  return Number(text);
}

const unreadable = (why: string, cause?: unknown): As4OnceError =>
  new As4OnceError('RECORD_UNREADABLE', `the stored record cannot be read: ${why}`, cause === undefined ? {} : { cause });
