import type { Clock } from './clock.js';
import type { Delivery, StoredBody } from './delivery/port.js';
import type { Waiting } from './delivery/wait.js';
import type { As4OnceError } from './errors.js';
import type { Events, ExchangeEvent } from './events.js';
import type { Exchange, Reply } from './exchange.js';
import type { Ledger, Settle } from './ledger/port.js';
import type { Owner } from './ledger/record.js';
import type { Limits, Times } from './limits.js';
import type { Message } from './message.js';
import type { Rule } from './policy/rule.js';
import type { AnswerIn, EarlyMessage, Protocol } from './protocol.js';

/** What the walk is handed: every dependency it has, as a port. Built once by the composition root. */
export interface Walk {
  readonly node: string;
  readonly owner: Owner;
  readonly clock: Clock;
  readonly events: Events;
  readonly ledger: Ledger;
  readonly limits: Limits;
  readonly spool: Spool;
  readonly journal: Journal;
  readonly waiting: Waiting;
  /** Attempts under way, so that a shutdown can wait for them. */
  readonly underWay: Set<Promise<unknown>>;
  /** Aborts at the end of a shutdown: what still goes on in the background ends with it. */
  readonly stop?: AbortSignal;
  /** Throws LEDGER_BEHIND while this process must not decide anything (the ledger went back in time, `ledger.strict`). */
  mayDecide(): void;
  /** An operator has switched the ledger off for a while: everything goes forward, unclaimed and marked. */
  bypassed?(): boolean;
  /** The ledger went back in time and this first copy may be one that it has forgotten. */
  fromGap?(message: Message): boolean;
}

/** One way in: what the configuration says of a path. A reload makes new ones; an exchange keeps the one it came by. */
export interface Route {
  readonly name: string;
  readonly scope: string;
  readonly protocol: Protocol;
  /** Methods that carry messages; any other passes. */
  readonly methods: ReadonlySet<string>;
  readonly delivery: Delivery;
  readonly times: Times;
  /** Adds `As4-Once-Answer: replay` to a replay. */
  readonly markReplay: boolean;
  /** How long the access point remembers an id, ms (uncertain: auto). */
  readonly remembersMs: number;
  /** The route's defaults say `mode: shadow`: what cannot be read is forwarded too. */
  readonly shadow: boolean;
  /** Ask the ledger before the body is complete: always (endpoint: a copy need not be decrypted) or for long bodies only. */
  readonly lookEarly: 'always' | 'long';
  select(message: EarlyMessage): Rule;
  keysOf(message: Message, rule: Rule): Keys;
  /** Hands on what is not ours to claim: other methods, signals. */
  pass(exchange: Exchange, body?: StoredBody): Promise<Reply>;
  /** A refusal in the protocol's own language; a signed one takes its time. */
  refuse(error: As4OnceError, answerIn: AnswerIn): Reply | Promise<Reply>;
  /**
   * Where what is delivered is what the protocol made of the request (Read.content), not the request's own bytes: those
   * are not kept then, and freeing the body frees the content. Without content (signals) an empty body.
   */
  bodyFrom?(content: unknown): StoredBody;
}

export interface Keys {
  readonly key: string;
  /** The key of the granularity before a change (`previousKey`). */
  readonly previous?: string;
  /** With content (`mismatch: deliver-flagged`) or with the sender (`otherSender: deliver`) added; made only where asked for. */
  withContent(): string;
  withSender(): string;
  /** Second keys, claimed after the primary in this order. */
  readonly second: readonly SecondKey[];
}

export interface SecondKey {
  readonly kind: 'resend' | 'sbdh' | 'business';
  readonly key: string;
  readonly fingerprint: string;
  readonly reference: string;
  readonly policy: 'flag' | 'suppress';
}

/** Keeps request bodies until they are delivered: memory first, then disk. */
export interface Spool {
  open(): Sink;
}

export interface Sink {
  write(chunk: Uint8Array): Promise<void>;
  finish(): Promise<StoredBody>;
  discard(): Promise<void>;
}

/** Law 2: where a reply goes whose settle could not be confirmed. */
export interface Journal {
  append(entry: Settle): Promise<void>;
}

/** Filled in along the walk; becomes the exchange's one log line. */
export type Notes = { -readonly [K in keyof ExchangeEvent]?: ExchangeEvent[K] };

/** An exchange on its way: what every step of the walk is given. */
export interface Step {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly walk: Walk;
  readonly notes: Notes;
  /** Monotonic ms by which the sender must have an answer; set when the body has ended. */
  answerBy: number;
  /** The stored body as long as the exchange owns it: whoever hands it on takes it over, otherwise it is freed at the end. */
  kept?: StoredBody | undefined;
}
