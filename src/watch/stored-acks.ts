import { openReply, storeReply } from '../receipt/stored-reply.js';
import type { StoredReply } from '../ledger/record.js';
import { As4OnceError } from '../errors.js';

/** Media type of what a settled record of a folder keeps: the acknowledgements that came for it. */
export const ACKS_TYPE = 'application/vnd.as4-once.acknowledgements+json';

export interface StoredAck {
  /** File name it came under. */
  readonly name: string;
  readonly kind: string;
  readonly verdict: string;
  /** SHA-256 of its bytes, hex. */
  readonly sha256: string;
  /** Base64. */
  readonly bytes: string;
}

export interface Acks {
  /** Which claim settled the record; tells two copies apart that settle at once. */
  readonly token: string;
  readonly acks: readonly StoredAck[];
  /** When they were put out again, epoch ms, newest last. */
  readonly replays: readonly number[];
}

export function storeAcks(acks: Acks): StoredReply {
  return storeReply({ status: 200, contentType: ACKS_TYPE, body: Buffer.from(JSON.stringify(acks)) });
}

/** Undefined where the record was not settled by a folder. Throws RECORD_UNREADABLE. */
export function openAcks(reply: StoredReply | undefined): Acks | undefined {
  if (reply === undefined || reply.contentType !== ACKS_TYPE) return undefined;
  try {
    return JSON.parse(Buffer.from(openReply(reply)).toString('utf8')) as Acks;
  } catch (error) {
    throw error instanceof As4OnceError ? error : new As4OnceError('RECORD_UNREADABLE', 'the stored acknowledgements are no JSON');
  }
}
