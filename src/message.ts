/** What every protocol adapter reads from an inbound message: the one shape that policy, ledger and log work on. */

export type ProtocolName = 'as4' | 'edifact' | 'x12' | 'sbdh' | 'reference';

/** A party as the protocol names it: AS4 PartyId with @type, EDIFACT 0004/0007, X12 ISA06/ISA05. */
export interface Party {
  readonly value: string;
  readonly type?: string;
}

/**
 * A typed digest of the content that survives an honest retry (design: keys and fingerprints). Two fingerprints are
 * equal only if the whole string is; kinds never match each other. Forms: `signed:<cid>[.<body>]` where `<cid>` is the
 * hash of the sorted multiset of (algorithm, digest) of the signed `cid:` references, `plain:<hash>`, `header:<hash>`,
 * `opaque:<hash>`.
 */
export type Fingerprint = string;

/** What an operator asks for; everything optional but from and to. Values are attacker-controlled text. */
export interface Facts {
  readonly from: readonly Party[];
  readonly to: readonly Party[];
  /** originalSender (four corner topology, C1). */
  readonly c1?: string;
  /** finalRecipient (C4). */
  readonly c4?: string;
  readonly service?: string;
  readonly serviceType?: string;
  readonly action?: string;
  readonly conversationId?: string;
  readonly agreement?: string;
  readonly mpc?: string;
  /** The sender's own date, epoch ms; only used to recognise a late duplicate. */
  readonly timestamp?: number;
}

/** A business document within the message that names itself: claimed beside the reference, as a second key. */
export interface DocumentKey {
  readonly kind: 'sbdh' | 'business';
  /** InstanceIdentifier of an SBDH, or what another business key is made of. */
  readonly reference: string;
  /** Who says so; another party's identifier is another document. */
  readonly parties: readonly Party[];
}

export interface Message {
  readonly protocol: ProtocolName;
  /** The value the standard makes unique: eb:MessageId, UNB 0020, ISA13, … compared exactly. */
  readonly reference: string;
  /** Only for protocol `reference`: the (External Reference, Type) pair's type. */
  readonly type?: string;
  readonly facts: Facts;
  readonly fingerprint: Fingerprint;
  /** Whether the message carries a signature over its header. */
  readonly signed: boolean;
  /** Known where the payload was read: role endpoint. */
  readonly documents?: readonly DocumentKey[];
  /** Parts of keys beyond reference, sender and recipient: EDI date and time, test indicator. */
  readonly extra?: Readonly<Record<string, string>>;
}
