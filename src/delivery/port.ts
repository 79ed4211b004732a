import type { Exchange, Reply } from '../exchange.js';
import type { ErrorCode } from '../errors.js';
import type { Message } from '../message.js';
import type { LedgerRecord, Outcome, StoredReply } from '../ledger/record.js';
import type { Rule } from '../policy/rule.js';

/** `bypass`: nobody looked whether it is a copy. */
export type Mark = 'first' | 'duplicate' | 'redelivery' | 'late' | 'resend' | 'bypass';

/** What one attempt needs: the claimed message, its stored body, and what came before it. */
export interface Attempted {
  readonly message: Message;
  readonly exchange: Exchange;
  readonly body: StoredBody;
  /** The rule in force for this exchange: what an uncertain attempt means, which reply headers are kept. */
  readonly rule: Rule;
  /** What the endpoint's protocol read besides the message (payloads); opaque to the walk. */
  readonly content?: unknown;
  /** What the upstream is told; undefined: unmarked (shadow). */
  readonly mark: Mark | undefined;
  /** The content was accepted before under another id and policy says so: answer for it, deliver nothing (`sbdh: suppress`). */
  readonly suppress?: true;
  /** Id of the first message (marks redelivery, late, resend), as it is: the upstream percent-encodes it for its header. */
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
  /** What happened on the wire where there was no answer, for the log. */
  readonly detail?: string;
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
  /** The whole body where it lies in memory: saves a client library the streaming. */
  readonly bytes?: Uint8Array;
  stream(): AsyncIterable<Uint8Array>;
  /** Frees memory or disk. Idempotent. */
  dispose(): Promise<void>;
}

/** Somebody else's access point: a Delivery, and a way through for what is not a UserMessage. */
export interface Upstream extends Delivery {
  /**
   * Hands a request through and its reply back, unclaimed and unmarked: other methods than POST, and signals. `body`
   * is what was read of it already; without it the exchange's own body is streamed. Where the reply's body is a stream,
   * `body` is disposed of when that ends.
   */
  pass(exchange: Exchange, body?: StoredBody, signal?: AbortSignal): Promise<Reply>;
  /** Opens a connection and closes it again: nothing is asked of the access point. For health and `doctor`. */
  probe(): Promise<{ readonly reachable: boolean; readonly ms: number; readonly detail?: string }>;
  /** Ends all connections at once; attempts in flight end uncertain. */
  close(): Promise<void>;
}

export type { Exchange, Reply };
