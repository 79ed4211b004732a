import type { Mark } from '../delivery/port.js';
import type { Property } from '../ebms/units.js';
import type { Facts, Party } from '../message.js';
import type { Payload } from '../security/payload.js';

/** What the application is told of a message, as JSON. Values are the sender's; every one of them was signed by it. */
export interface Metadata {
  readonly messageId: string;
  /** eb:Timestamp as written. */
  readonly timestamp: string;
  readonly conversationId: string;
  readonly refToMessageId?: string;
  readonly from: { readonly ids: readonly Party[]; readonly role?: string };
  readonly to: { readonly ids: readonly Party[]; readonly role?: string };
  readonly agreement?: string;
  readonly service: string;
  readonly serviceType?: string;
  readonly action: string;
  readonly mpc?: string;
  /** originalSender and finalRecipient among them. */
  readonly properties: readonly Property[];
  /** Whether an earlier delivery of it is known or possible; `firstId` is that one's MessageId where it is another. */
  readonly mark?: Mark;
  readonly firstId?: string;
  /** Whose certificate signed; absent for a message that needs no signature and has none. */
  readonly signer?: { readonly subject: string; readonly serial: string; readonly sha256: string };
  readonly documents?: readonly { readonly kind: string; readonly reference: string }[];
  readonly payloads: readonly PayloadMetadata[];
}

export interface PayloadMetadata {
  readonly contentId?: string;
  readonly mimeType: string;
  readonly characterSet?: string;
  /** Bytes, after decompression. */
  readonly length: number;
  readonly sha256?: string;
  readonly properties: readonly Property[];
}

/** One message, proven, on its way to the application. */
export interface Handover {
  /**
   * The same for every attempt at one message within its window, and never again: 32 hex digits of a hash of DuplicateKey
   * and first arrival. What is delivered under it twice is one delivery.
   */
  readonly name: string;
  /** For the Idempotency-Key header field: a structured-field string. */
  readonly idempotencyKey: string;
  /** An earlier attempt may have been taken. */
  readonly again: boolean;
  readonly metadata: Metadata;
  readonly payloads: readonly Payload[];
  readonly facts: Facts;
  /** Aborts at `times.patience`. */
  readonly signal: AbortSignal;
}

/** What the application did. `detail` is for the log. */
export type Handed =
  | { readonly kind: 'accepted' }
  /** It said no: certain, and the sender is told. */
  | { readonly kind: 'rejected'; readonly detail: string }
  /** It was not there, or said that it takes nothing just now (`answered`), and certainly has not: the sender comes again. */
  | { readonly kind: 'away'; readonly detail: string; readonly answered?: true }
  /** It may have taken the message. */
  | { readonly kind: 'uncertain'; readonly detail: string };

/** Where the endpoint's messages go. Never throws for what can happen. */
export interface Backend {
  /** Whether a repetition does no harm: then an uncertain attempt is repeated instead of held for an operator. */
  readonly idempotent: boolean;
  hand(over: Handover): Promise<Handed>;
  /** Ends connections; what is in progress ends uncertain. */
  close(): Promise<void>;
}
