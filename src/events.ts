import { EventEmitter } from 'node:events';
import type { ErrorCode } from './errors.js';

/**
 * What the core tells the world. Log, metrics and dashboard subscribe; the core never writes a log line itself.
 * Every payload carries the DuplicateKey (`key`) where there is one, so that a log line leads to its record.
 */
export interface EventMap {
  /** A message arrives: counted at the door, so that every answer can be held against it. */
  arrived: { readonly route: string; readonly at: number };
  /** One per exchange, at its end: the log line. */
  exchange: ExchangeEvent;
  /** A lapsed claim of another holder was taken over. */
  takeOver: KeyEvent & { readonly owner?: string };
  /** An attempt ended without a certain outcome. */
  uncertain: KeyEvent & { readonly reason: string };
  /** A record now waits for an operator. */
  held: KeyEvent & { readonly reason: string };
  /** Same key, other content than was accepted. */
  mismatch: KeyEvent & { readonly firstSeen: number };
  /** Two contents of one key were both accepted by the access point. */
  twoContents: KeyEvent;
  /** Two Receipts for the same content; the first one stands. */
  twoReceipts: KeyEvent;
  /** The access point remembers the id of a message that it rejected. */
  burnt: KeyEvent;
  /** The access point answered for another message. */
  wrongAnswer: KeyEvent & { readonly reason: string };
  /** A reply too large to be stored was passed on. */
  replyTooLarge: KeyEvent & { readonly bytes: number };
  /** A stored reply does not match its digest. */
  unreadable: KeyEvent & { readonly reason: string };
  /** A copy came after its window and was delivered, labelled. */
  late: KeyEvent & { readonly firstSeen: number };
  /** Same content under another id within the window. */
  resend: KeyEvent & { readonly first: string };
  /** Settle could not be confirmed; the reply lies in the journal. */
  journaled: KeyEvent;
  /** A journal entry was settled. */
  journalClosed: KeyEvent & { readonly answer: string };
  /** An attempt ended after its sender had been answered 504. */
  lateOutcome: KeyEvent & { readonly outcome: string; readonly reason: string };
  /** A shadow or detect-only route saw what eliminate would have done. */
  shadow: KeyEvent & { readonly would: string };
  ledger: { readonly up: boolean; readonly reason: string };
  /** The ledger went back in time (restored, failed over with losses, flushed), or an operator took it as it is. */
  behind: { readonly behind: boolean; readonly reason: string };
  /** A first copy that may have been delivered before the ledger went back in time; it goes on marked. */
  gap: KeyEvent;
  /** An operator switched the ledger off for a while, or that is over. */
  bypass: { readonly on: boolean; readonly reason: string; readonly who?: string; readonly until?: string };
  /** A sender goes on sending a message that was answered; once per key and hour. */
  storm: KeyEvent & { readonly copies: number; readonly withinMs: number };
  /** An operator's act through the admin API, done or refused. */
  operator: OperatorEvent;
  /** A request to the admin API without the right to it. */
  denied: { readonly peer: string; readonly path: string };
  /** Standing records got a longer window, since the rules give them one now. */
  windowsRaised: { readonly records: number; readonly seen: number };
  /** The store's own settings endanger the guarantee. */
  storeWarning: { readonly code: string; readonly text: string };
  /** Something unexpected that lost nothing but should be seen. */
  fault: { readonly code: ErrorCode; readonly detail: string; readonly key?: string };
}

export interface OperatorEvent {
  /** `settle`, `release`, … */
  readonly act: string;
  readonly who: string;
  readonly reason: string;
  readonly peer: string;
  readonly done: boolean;
  /** Why it was not done. */
  readonly code?: ErrorCode;
  readonly key?: string;
  readonly messageId?: string;
}

export interface KeyEvent {
  readonly key: string;
  readonly messageId: string;
  readonly partner?: string;
}

/** How the walk answered; also the label of the metric. */
export type AnswerName =
  | 'first' | 'redelivery' | 'late' | 'resend' | 'replay' | 'waited' | 'busy' | 'refused' | 'mismatch' | 'held'
  | 'passed' | 'forwarded' | 'unavailable' | 'failed';

/** The log line of one exchange. Times are epoch ms, `ms` is the duration of the exchange. */
export interface ExchangeEvent {
  readonly answer: AnswerName;
  readonly status: number;
  /** When it arrived, as `arrived` said it; absent where nothing did. */
  readonly at?: number;
  readonly ms: number;
  readonly bytes: number;
  readonly node: string;
  readonly route: string;
  readonly peer: string;
  readonly code?: ErrorCode;
  readonly detail?: string;
  readonly messageId?: string;
  readonly key?: string;
  readonly protocol?: string;
  readonly from?: string;
  readonly to?: string;
  readonly c1?: string;
  readonly c4?: string;
  readonly service?: string;
  readonly action?: string;
  readonly conversationId?: string;
  /** Where messageId, parties and the like are what a refused message says of itself, and nothing has proven. */
  readonly unverified?: true;
  readonly rule?: string;
  readonly partner?: string;
  /** Where the exchange was not judged as in mode eliminate. */
  readonly mode?: 'shadow' | 'detect-only' | 'bypass';
  /** What mode eliminate would have met: an answer of the ledger, `refuse`, or `unknown` without a ledger. */
  readonly would?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly attempt?: number;
  readonly firstSeen?: number;
  readonly copies?: number;
  readonly receiptId?: string;
  readonly receiptSha256?: string;
}

/** Typed face of one EventEmitter; a listener that throws must not break the walk, so errors are swallowed here. */
export class Events {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  on<K extends keyof EventMap>(name: K, listener: (event: EventMap[K]) => void): () => void {
    const guarded = (event: EventMap[K]): void => {
      try {
        listener(event);
      } catch {
        // an observer's fault is the observer's
      }
    };
    this.#emitter.on(name, guarded);
    return () => this.#emitter.off(name, guarded);
  }

  emit<K extends keyof EventMap>(name: K, event: EventMap[K]): void {
    this.#emitter.emit(name, event);
  }
}
