import { hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { As4OnceError } from '../errors.js';
import type { StoredReply } from '../ledger/record.js';

/** A reply as it went to the first sender, to be kept. `body` is without any content coding. */
export interface ReplyToStore {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly receiptId?: string;
  readonly signerSerial?: string;
}

/**
 * Measured on Receipts of 7 KB: level 3 in a window that just holds them takes half of the time of level 6 and is 2 %
 * larger (level 1: 4 %); most of a Receipt is base64, which no level makes small.
 */
const LEVEL = 3;
const SMALL = { level: LEVEL, windowBits: 13, memLevel: 7, chunkSize: 8 * 1024 };
const LARGE = { level: 6 };
/** DEFLATE cannot expand further than this (RFC 1951: 258 bytes from two bits), so a longer length is a lie. */
const MAX_RATIO = 1_032;

/** Compresses a reply and notes what it must inflate to. */
export function storeReply(reply: ReplyToStore): StoredReply {
  const { status, contentType, headers, body, receiptId, signerSerial } = reply;
  return {
    status,
    contentType,
    ...(headers === undefined || headers.length === 0 ? {} : { headers }),
    deflated: deflateRawSync(body, body.byteLength <= SMALL.chunkSize ? SMALL : LARGE),
    length: body.byteLength,
    sha256: sha256(body),
    ...(receiptId === undefined ? {} : { receiptId }),
    ...(signerSerial === undefined ? {} : { signerSerial }),
  };
}

/** The plain bytes. Throws RECORD_UNREADABLE unless length and SHA-256 are what was noted; inflates no further than that. */
export function openReply(stored: StoredReply): Uint8Array {
  const { deflated, length } = stored;
  if (!Number.isSafeInteger(length) || length < 0 || length > deflated.byteLength * MAX_RATIO) {
    throw new As4OnceError('RECORD_UNREADABLE', `a reply of ${length} bytes cannot lie in ${deflated.byteLength}`);
  }
  let body: Uint8Array;
  try {
    // one piece that just holds it: otherwise 16 KiB are taken for every reply, and copied together
    body = inflateRawSync(deflated, { maxOutputLength: Math.max(1, length), chunkSize: Math.max(64, length + 1) });
  } catch (error) {
    throw new As4OnceError('RECORD_UNREADABLE', 'the stored reply does not inflate', { cause: error });
  }
  if (body.byteLength !== length) {
    throw new As4OnceError('RECORD_UNREADABLE', `the stored reply has ${body.byteLength} bytes, not ${length}`);
  }
  if (sha256(body) !== stored.sha256) {
    throw new As4OnceError('RECORD_UNREADABLE', 'the stored reply does not match its SHA-256');
  }
  return body;
}

function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
