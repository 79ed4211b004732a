import type { Facts, Fingerprint, ProtocolName } from '../message.js';
import type { Decision, DuplicateKey, LedgerRecord, Outcome, Owner, State, StoredReply } from './record.js';

/**
 * The ledger port. Every engine keeps these guarantees, and `as4-once/testing` proves them on the real engine.
 *
 * G1  claim is one atomic step; exactly one of any number of concurrent claims of a key is `claimed`, and every loser
 *     is shown the standing record it lost to (no second read).
 * G2  A claim repeated with the same token is answered as the first time: a claimer that lost the reply of its own
 *     claim recognises it as its own.
 * G3  What was answered is durable as far as the engine promises (embedded: fsync; Redis: its persistence settings).
 * G4  Every later command carries the token and is idempotent under it; `stale` and `gone` come with the standing record.
 * G5  The clock is the engine's own and never runs backwards for one record. Callers hand in durations, never times.
 * G6  A lapsed lease is taken over only after one full lease of unbroken contact of this process (law 8), or where the owner is proven dead.
 * G7  The first valid Receipt wins: settle for the record's fingerprint succeeds on any record not settled yet, whoever
 *     holds it; on an absent record it creates it settled.
 * G8  Unreachable, full, read-only or loading throws As4OnceError LEDGER_DOWN or LEDGER_FULL; it never means new or duplicate.
 * G9  An unknown newer record format throws RECORD_UNREADABLE, never means new.
 * G10 watch is a hint: it may miss or repeat; the caller polls at least every times.poll.
 * G11 list(held | uncertain | in flight) costs O(result) and judges time itself; iterate sees every record that stands
 *     throughout, in no order, with a resumable cursor.
 * G12 A record is never forgotten before born + window + late, nor while its lease is live; only `open` without any
 *     uncertain attempt goes earlier (openKeptMs).
 * G13 meta holds the ledger's own id, made once, and the number of settles it has seen.
 * G14 Notes lie beside the records, for what processes tell operators: the last write of a name wins, so that a repeat
 *     changes nothing, and a shelf is forgotten as a whole, never before keptMs after its last write.
 * G15 Records are written in the ledger's own format, whatever the release can write, until `upgrade`.
 */
export interface Ledger {
  readonly name: 'redis' | 'embedded' | 'memory';

  find(key: DuplicateKey): Promise<Found | undefined>;
  /** All records of one reference (the key's first half), whatever their other parts. */
  findReference(prefix: string): AsyncIterable<LedgerRecord>;
  claim(command: Claim): Promise<ClaimAnswer>;
  renew(command: Held): Promise<Answer>;
  settle(command: Settle): Promise<Answer>;
  release(command: Release): Promise<Answer>;
  /** Adds or replaces the reply of a settled record (an acknowledgement that comes later). */
  attach(command: { key: DuplicateKey; reply: StoredReply; decision?: Decision }): Promise<Answer>;
  /** settled -> open: a negative acknowledgement came. */
  revoke(command: { key: DuplicateKey; decision: Decision }): Promise<Answer>;
  /** Raises the window of a standing record; never lowers it. */
  extend(command: { key: DuplicateKey; windowMs: number; lateMs: number }): Promise<Answer>;
  operatorSettle(command: { key: DuplicateKey; reply: StoredReply; fingerprint: Fingerprint | undefined; decision: Decision; force: boolean }): Promise<OperatorAnswer>;
  operatorRelease(command: { key: DuplicateKey; decision: Decision; force: boolean }): Promise<OperatorAnswer>;
  /** Blanks parties and references of a record; keeps hash, state and reply. */
  forget(command: { key: DuplicateKey; decision: Decision }): Promise<Answer>;
  /**
   * Import and restore: writes the record unless one stands (never overwrites). A claim that was in progress becomes an
   * uncertain attempt. True if written.
   */
  adopt(record: LedgerRecord): Promise<boolean>;
  /**
   * `adopt` for each of them, in their order, for less than so many adopts cost: an engine may take them in one step, so
   * hand in a few thousand at most. Where it rejects, any of them may be written; a repeat then finds those standing.
   */
  adoptAll(records: readonly LedgerRecord[]): Promise<readonly boolean[]>;

  /** Second keys (design: second keys): claim or replace a pointer; its truth is the primary's state. */
  point(command: Point): Promise<PointAnswer>;

  /** Calls back when the key may have changed state. A hint only (G10). Returns the unsubscribe function. */
  watch(key: DuplicateKey, wake: () => void): () => void;

  list(what: 'held' | 'uncertain' | 'inFlight', limit?: number): Promise<readonly LedgerRecord[]>;
  iterate(cursor?: string): AsyncIterable<{ readonly record: LedgerRecord; readonly cursor: string }>;
  stats(): Promise<LedgerStats>;
  meta(): Promise<LedgerMeta>;
  /** An operator takes the ledger as it is, although it went back in time; every process hears of it by `meta`. */
  accept(command: Omit<Acceptance, 'id' | 'when'>): Promise<LedgerMeta>;
  /** Records are written in the newest format of this release from now on. Older releases cannot read them. */
  upgrade(): Promise<LedgerMeta>;
  note(command: Note): Promise<void>;
  /** All notes of a shelf, by name. */
  notes(shelf: string): Promise<ReadonlyMap<string, string>>;
  /** A copy of the whole store as it stands, made while it is used, in a folder that is empty; where the engine can. */
  copyTo?(folder: string): Promise<void>;
  /** What in the store's own settings endangers the guarantee now. The engine looks again by itself, so that it also ends. */
  warnings?(): readonly StoreWarning[];
  /** Cheap round trip for health; rejects like any command where the engine cannot be reached. */
  ping(): Promise<{ readonly ms: number }>;
  close(): Promise<void>;
}

export interface Found {
  readonly record: LedgerRecord;
  /** The ledger's clock when it was read. */
  readonly now: number;
}

export interface Claim {
  readonly key: DuplicateKey;
  readonly protocol: ProtocolName;
  readonly scope: string;
  readonly reference: string;
  readonly type?: string;
  readonly rule: string;
  readonly sender: string;
  readonly fingerprint: Fingerprint;
  readonly facts: Facts;
  /** Unique per attempt. */
  readonly token: string;
  readonly owner: Owner;
  readonly leaseMs: number;
  readonly windowMs: number;
  readonly lateMs: number;
  /** A live record's expiry is at least now + lease + patience. */
  readonly patienceMs: number;
  readonly openKeptMs: number;
  /** What happens after an uncertain attempt. */
  readonly uncertain: 'auto' | 'redeliver' | 'hold';
  /** How long the access point itself remembers an id, ms from the earliest uncertain attempt (`auto`). */
  readonly remembersMs: number;
  readonly otherSender: 'refuse' | 'deliver';
  /** Policy for a record that was imported without a reply. */
  readonly known: 'pass' | 'hold';
  /** False: look only, never write a claim (detect-only and shadow count copies this way). */
  readonly take?: boolean;
  /** True: an earlier claim of the same exchange counted this copy already (a waiter that claims again). */
  readonly counted?: boolean;
  /** The claim must not be executed later than this many ms after it was sent (a caller's client may queue it). */
  readonly notAfterMs: number;
}

export type ClaimAnswer =
  /** Ours. `mark` is what the upstream is told; `previous` the record as it stood before. */
  | { readonly kind: 'claimed'; readonly mark: 'first' | 'redelivery' | 'late'; readonly record: LedgerRecord; readonly previous?: LedgerRecord; readonly tookOver?: true; readonly now: number }
  | { readonly kind: 'inFlight' | 'settled' | 'mismatch' | 'held' | 'known'; readonly record: LedgerRecord; readonly now: number };

/** Names one attempt. */
export interface Held {
  readonly key: DuplicateKey;
  readonly token: string;
  readonly leaseMs: number;
  readonly patienceMs: number;
}

export interface Settle {
  readonly key: DuplicateKey;
  readonly token: string;
  readonly fingerprint: Fingerprint;
  readonly reply: StoredReply;
  /** How long ago the attempt began, ms: the birth of a record that is absent by now. */
  readonly beganMsAgo: number;
  /** What the claim said, for a record that is absent by now. */
  readonly claim: Claim;
}

export interface Release {
  readonly key: DuplicateKey;
  readonly token: string;
  readonly outcome: 'rejected' | 'uncertain';
  readonly reason: string;
  /** Hold for an operator instead of `open`. */
  readonly hold: boolean;
  /** A "duplicate" Error of the access point to our first attempt does not count as a rejected attempt. */
  readonly counts: boolean;
  readonly openKeptMs: number;
  readonly claim: Claim;
}

/** `ok`: done, now or before. `stale`: another attempt or a decision stands. `gone`: no record. */
export type Answer =
  | { readonly kind: 'ok'; readonly record: LedgerRecord; readonly twoReceipts?: true }
  | { readonly kind: 'stale'; readonly record: LedgerRecord; readonly twoReceipts?: true; readonly twoContents?: true }
  | { readonly kind: 'gone' };

export type OperatorAnswer =
  | { readonly kind: 'ok'; readonly record: LedgerRecord }
  | { readonly kind: 'live' | 'notAllowed' | 'foreign'; readonly record: LedgerRecord; readonly why: string }
  | { readonly kind: 'gone' };

export interface Point {
  readonly key: DuplicateKey;
  readonly primary: DuplicateKey;
  readonly token: string;
  readonly fingerprint: Fingerprint;
  readonly windowMs: number;
  readonly protocol: ProtocolName;
  readonly scope: string;
  readonly reference: string;
  readonly sender: string;
  /** Policy waits for other messages of the same content, so that there is one delivery of it. */
  readonly waits: boolean;
  /** What follows an uncertain attempt of such a message, as for its own copies (Claim). */
  readonly uncertain: Claim['uncertain'];
  readonly remembersMs: number;
}

export type PointAnswer =
  | { readonly kind: 'mine' }
  /** The primary is settled with that fingerprint: the same content was accepted before. */
  | { readonly kind: 'hit'; readonly primary: LedgerRecord }
  /** The pointer stands, but for other content. */
  | { readonly kind: 'differs'; readonly primary: LedgerRecord }
  | { readonly kind: 'inFlight'; readonly primary: LedgerRecord }
  /** The pointer is one's own now; a message of that key before it may have been accepted, nobody knows. */
  | { readonly kind: 'unclear'; readonly primary: LedgerRecord }
  /** The same, and policy leaves it to an operator. Only where the command `waits`. */
  | { readonly kind: 'held'; readonly primary: LedgerRecord };

/** The code is stable; the text is for people and says what to do. */
export interface StoreWarning {
  readonly code: string;
  readonly text: string;
}

export interface LedgerStats {
  /** Records by state, as far as the engine knows without reading all of them. */
  readonly records: number;
  readonly bytes: number;
  readonly maxBytes?: number;
  readonly byState?: Partial<Record<State, number>>;
}

export interface LedgerMeta {
  readonly id: string;
  readonly created: number;
  /** Settles ever seen by this ledger; falls only if the ledger went back in time. */
  readonly settles: number;
  /** The ledger's clock, epoch ms. */
  readonly now: number;
  /** The format its records are written in (codec.ts), and the newest that this release can write. */
  readonly format: string;
  readonly newestFormat: string;
  /** The last time an operator took it as it was. */
  readonly accepted?: Acceptance;
}

export interface Acceptance {
  /** Made by the ledger, new each time. */
  readonly id: string;
  readonly when: number;
  readonly who: string;
  readonly reason: string;
}

export interface Note {
  /** Letters, digits and `/ - . : _`, at most 200 characters. */
  readonly shelf: string;
  /** `null` removes the name. A text holds at most 2 MiB. */
  readonly entries: Readonly<Record<string, string | null>>;
  readonly keptMs: number;
}

export type { Decision, DuplicateKey, LedgerRecord, Outcome, Owner, State, StoredReply };
