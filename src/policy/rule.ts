/** One effective rule: what the configuration says for one message, after defaults, route and partner were merged. */

export type Mode = 'eliminate' | 'detect-only' | 'shadow';
/**
 * What makes two messages the same: the reference, with sender and recipient on request, and on request the content
 * (fingerprint) and, for EDI partners that always send the same number, the interchange's date and time.
 */
export type Granularity = `reference${'' | '+sender' | '+sender+recipient'}${'' | '+content'}${'' | '+datetime'}`;

export interface Rule {
  /** Name for logs and records: `defaults`, or the partner's name. */
  readonly name: string;
  /** Set for configured partners only: the metric's label. */
  readonly partner?: string;
  readonly window: number;
  readonly late: number;
  readonly key: Granularity;
  /** Granularity in force before a change; honoured for one window. */
  readonly previousKey?: Granularity;
  readonly mode: Mode;
  readonly mismatch: 'refuse' | 'replay' | 'deliver-flagged';
  readonly otherSender: 'refuse' | 'deliver';
  readonly uncertain: 'auto' | 'redeliver' | 'hold';
  readonly upstreamDuplicate: 'pass' | 'hold';
  readonly bundle: 'refuse' | 'forward';
  readonly unsigned: 'accept' | 'refuse';
  readonly known: 'pass' | 'hold';
  readonly replyPattern: 'response' | 'callback';
  /** `auto`: flag where the message is Peppol. */
  readonly resend: 'auto' | 'flag' | 'off';
  readonly sbdh: 'flag' | 'suppress' | 'off';
  readonly verify: 'none' | 'signature';
  /** How long a copy waits for the copy in progress, ms. */
  readonly wait: number;
  /** Protocol reference: statuses that mean accepted; answer while in progress. */
  readonly accept?: readonly string[];
  readonly inFlight: 409 | 503;
  readonly replyHeaders: readonly string[];
  /** EDI: counts and references that do not agree are a warning (default) or a refusal. */
  readonly checks?: 'warn' | 'strict';
  /** Folders: what happens to a file of several interchanges of which some are repetitions (default cut). */
  readonly mixed?: 'cut' | 'split' | 'hold';
  /** Folders: whether a repetition puts the stored acknowledgement out again (default replay). */
  readonly ack?: 'replay' | 'none';
  /** AS4: business keys claimed beside the MessageId, read from the payload. */
  readonly payloadKeys?: readonly ('sbdh' | 'edifact' | 'x12' | 'ubl')[];
  /** How long the original SOAP part is kept for evidence, ms; 0 or absent: not at all. */
  readonly keepHeader?: number;
}
