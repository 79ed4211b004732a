import type { Facts, Fingerprint, ProtocolName } from '../message.js';

/** What lies in the ledger for one DuplicateKey. All times are epoch ms on the ledger's own clock. */

/** hash(protocol, scope, reference) + ":" + hash(the other parts of the granularity). See policy/key.ts. */
export type DuplicateKey = string;

export type State = 'claimed' | 'open' | 'held' | 'settled' | 'known';
export type Outcome = 'accepted' | 'rejected' | 'uncertain';

/** Who holds a claim, precise enough to prove it dead (law 8). */
export interface Owner {
  readonly node: string;
  readonly pid: number;
  /** Kernel start ticks of the process, so that a reused pid is not taken for it. */
  readonly started: string;
  /** Boot id and PID namespace; equal values mean that a missing process is dead. Empty where unknown. */
  readonly boot: string;
  readonly pidNamespace: string;
}

export interface Attempt {
  readonly token: string;
  readonly fingerprint: Fingerprint;
  readonly began: number;
  readonly node: string;
  readonly ended?: number;
  readonly outcome?: Outcome;
  /** Why, in the outcome table's words. */
  readonly reason?: string;
  /** What the claim was told to mark the delivery with; a repeated claim is answered with it again (G2). */
  readonly mark?: 'first' | 'redelivery' | 'late';
}

export interface StoredReply {
  readonly status: number;
  readonly contentType: string;
  /** Further header fields that belong to the reply (`replyHeaders:`). */
  readonly headers?: readonly (readonly [string, string])[];
  /** raw DEFLATE of the body. */
  readonly deflated: Uint8Array;
  /** Bytes of the plain body. */
  readonly length: number;
  /** SHA-256 of the plain body, hex; checked before each replay. */
  readonly sha256: string;
  readonly receiptId?: string;
  /** Serial number of the certificate that signed the Receipt. */
  readonly signerSerial?: string;
}

/** An operator's act on a record. */
export interface Decision {
  readonly what: 'settle' | 'release' | 'attach' | 'revoke' | 'forget' | 'import';
  readonly who: string;
  readonly when: number;
  readonly reason: string;
}

export interface LedgerRecord {
  readonly format: 1;
  /** Grows with every change of state; the guard of compare-and-set. Counting a copy does not change it. */
  readonly version: number;
  readonly key: DuplicateKey;
  readonly protocol: ProtocolName;
  readonly scope: string;
  readonly reference: string;
  readonly type?: string;
  /** Name of the policy rule that governed the claim. */
  readonly rule: string;
  readonly state: State;
  readonly born: number;
  /** Window, ms, counted from born. */
  readonly window: number;
  /** How much longer than its window the record is kept, ms. */
  readonly late: number;
  /** When the engine may forget the record; set by the transition, born + window + late where absent. */
  readonly keptUntil?: number;
  readonly sender: string;
  readonly fingerprint: Fingerprint;
  readonly facts: Facts;
  /** Token of the current or last attempt. */
  readonly token?: string;
  readonly leaseUntil?: number;
  /** Length of that lease, ms: how long a process must have been in contact before it takes over (law 8). */
  readonly lease?: number;
  readonly owner?: Owner;
  /** Newest last, at most limits.attempts. */
  readonly attempts: readonly Attempt[];
  /** Start of the earliest uncertain attempt. */
  readonly firstUncertain?: number;
  /** Certain rejections before the first uncertain attempt. */
  readonly rejections: number;
  /** Copies seen after the first, and when the newest came. */
  readonly copies: number;
  readonly lastSeen: number;
  readonly reply?: StoredReply;
  readonly decisions?: readonly Decision[];
  /** Operator cleared an uncertain record: the next copy is claimed once, marked, whatever policy says. */
  readonly cleared?: true;
  /** A late first copy keeps what it follows. */
  readonly follows?: { readonly born: number; readonly receiptId?: string; readonly sha256?: string };
  /** An accepted attempt with other content than the settled one. */
  readonly twoContents?: true;
  /** Set where this record is a second key's pointer. */
  readonly pointer?: {
    readonly primary: DuplicateKey;
    readonly token: string;
    /** Messages that it led to before, of which nobody knew what had become. */
    readonly before?: readonly DuplicateKey[];
  };
}
