import type { Exchange, HeaderList, Reply } from '../exchange.js';
import type { ErrorCode } from '../errors.js';
import type { Message } from '../message.js';
import type { LedgerRecord, Outcome, StoredReply } from '../ledger/record.js';

/** What one attempt needs: the claimed message, its stored body, and what came before it. */
export interface Attempted {
  readonly message: Message;
  readonly exchange: Exchange;
  readonly body: StoredBody;
  readonly mark: 'first' | 'duplicate' | 'redelivery' | 'late' | 'resend';
  /** Percent-encoded id of the first message (marks redelivery, late, resend). */
  readonly firstId?: string;
  /** The record as claimed; absent where nothing was claimed (detect-only copies, bypass). */
  readonly record?: LedgerRecord;
  /** What the record looked like before this claim. */
  readonly previous?: LedgerRecord;
  /** Aborts at `patience`; never because a client left. */
  readonly signal: AbortSignal;
}

/** What came of an attempt: the outcome decides the ledger, `reply` goes to the sender. */
export interface AttemptResult {
  readonly outcome: Outcome;
  /** Row of the outcome table, for record, log and metric. */
  readonly reason: string;
  readonly reply: Reply;
  /** Present exactly when outcome is accepted: what is stored and replayed. */
  readonly stored?: StoredReply;
  /** Hold for an operator instead of open. */
  readonly hold: boolean;
  /** False where a rejection does not count as a rejected attempt. */
  readonly counts: boolean;
  /** Code for the log line when the sender does not simply get the upstream's bytes. */
  readonly code?: ErrorCode;
  readonly alert?: 'burnt' | 'wrongAnswer' | 'replyTooLarge' | 'otherDigests';
}

/** One way to hand a message on: somebody else's access point, or our own backend. Never throws for what can happen. */
export interface Delivery {
  attempt(attempted: Attempted): Promise<AttemptResult>;
}

/** A request body that was read to its end: in memory, or in an unlinked spool file. Can be read more than once. */
export interface StoredBody {
  readonly length: number;
  readonly sha256?: string;
  stream(): AsyncIterable<Uint8Array>;
  /** Frees memory or disk. Idempotent. */
  dispose(): Promise<void>;
}

export type { Exchange, HeaderList, Reply };
