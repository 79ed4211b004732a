import type { X509Certificate } from 'node:crypto';
import type { DeliveryCounter } from '../delivery/counter.js';
import type { Identity } from '../keys.js';
import type { Agreement, ProfileName } from '../profile.js';

/** What a requirement may need of the target; a target file that does not provide it leads to `skipped`. */
export const CAPABILITIES = {
  delivery: 'deliveries can be counted (delivery:)',
  signing: 'messages are signed (keys.sign)',
  encryption: 'payloads are encrypted for the receiver (keys.encryptFor)',
  'signature-required': 'unsigned messages are refused (accepts.unsigned: false)',
  restart: 'the target can be restarted (hooks.restart)',
  kill: 'the target can be killed and started again (hooks.kill)',
  'backend-fail': 'the backend can be made to refuse (delivery.http, or hooks.backendFail and hooks.backendNormal)',
  'backend-slow': 'the backend can be made slow (delivery.http, or hooks.backendSlow and hooks.backendNormal)',
  store: 'the store can be stopped and started (hooks.storeDown and hooks.storeUp)',
  window:
    'the duplicate window of the test partner is known and short, or the clock can be moved (claims.window, ' +
    'hooks.clock)',
  'second-url': 'a second address of the same cluster (urls)',
  'other-sender': 'a second sender is known to the target (keys.otherSender)',
  ping: 'test messages are recognised (accepts.ping)',
  soap11: 'SOAP 1.1 is accepted (accepts.soap11)',
  bare: 'SOAP without MIME and without payload is accepted (accepts.bare)',
  uncompressed: 'uncompressed payloads are accepted (accepts.uncompressed)',
  'many-payloads': 'several payloads are accepted (accepts.payloads)',
  compressed: 'compressed payloads are read by the target itself (accepts.compressed)',
  large: 'large messages are accepted (accepts.largest)',
} as const;

export type Capability = keyof typeof CAPABILITIES;

/**
 * What the target's maker says about behaviour on which the standards are silent. A claim turns the matching
 * `observe` requirement into one that is judged.
 */
export interface Claims {
  /** What a duplicate is answered with: the same bytes again, or any Receipt for the message. */
  readonly duplicate?: 'identical' | 'receipt';
  /** Milliseconds. */
  readonly window?: number;
  /** A copy after the window is a new message. */
  readonly afterWindow?: 'deliver';
  /** Other content under a known id. */
  readonly mismatch?: 'refuse';
  /** The same id from another sender. */
  readonly otherSender?: 'deliver' | 'refuse';
  /** A copy while the first is in work waits, or is asked to come again. */
  readonly inFlight?: 'wait-or-retry';
  /** A message whose delivery failed is delivered when it comes again. */
  readonly failedRetry?: 'deliver';
  /** A forged copy that came first does not keep the genuine one out. */
  readonly forgedFirst?: 'harmless';
  /** A start parameter that names another part than the first. */
  readonly startElsewhere?: 'refuse' | 'honour';
  /** `Content-Encoding: gzip` on requests. */
  readonly contentEncoding?: 'accept';
  /** Store outage: the sender is asked to come again, nothing is decided. */
  readonly storeDown?: 'retryable';
}

export const HOOKS = [
  'restart',
  'kill',
  'backendFail',
  'backendSlow',
  'backendNormal',
  'storeDown',
  'storeUp',
  'clock',
] as const;
export type HookName = (typeof HOOKS)[number];
/**
 * `clock` is called with the milliseconds to move forward, `backendSlow` with the milliseconds a delivery shall take.
 */
export type Hook = (argument?: number) => Promise<void>;

/** Milliseconds. */
export interface TargetTimes {
  /** Longest wait for an answer. */
  readonly answer: number;
  /** Longest time from a Receipt until the delivery can be seen. */
  readonly deliver: number;
  /** Silence at the end of each requirement, in which a second delivery would show. */
  readonly quiet: number;
  /** How long a slow backend takes where a requirement asks for one. */
  readonly slow: number;
  /** Longest run of one hook. */
  readonly hook: number;
  /** Longest time until the target answers again after a restart. */
  readonly ready: number;
  /** Longest time for one requirement. */
  readonly requirement: number;
}

export const DEFAULT_TIMES: TargetTimes = {
  answer: 60_000,
  deliver: 10_000,
  quiet: 2_000,
  slow: 3_000,
  hook: 60_000,
  ready: 60_000,
  requirement: 300_000,
};

/** A second sender that the target knows. */
export interface OtherSender {
  readonly party: string;
  readonly identity: Identity | undefined;
}

/** The receiver under test, as the runner uses it. */
export interface Target {
  readonly name: string;
  readonly version: string | undefined;
  /** How it was configured, for the report. */
  readonly notes: string | undefined;
  readonly urls: readonly [URL, ...URL[]];
  readonly profile: ProfileName;
  readonly agreement: Agreement;
  readonly identity: Identity | undefined;
  readonly otherSender: OtherSender | undefined;
  readonly encryptFor: X509Certificate | undefined;
  readonly receiptSigner: X509Certificate | undefined;
  readonly tlsCa: string | undefined;
  readonly openDelivery: (() => Promise<DeliveryCounter>) | undefined;
  readonly hooks: Partial<Record<HookName, Hook>>;
  readonly times: TargetTimes;
  readonly claims: Claims;
  /** Bytes of a large message that the target accepts. */
  readonly largest: number;
  readonly capabilities: ReadonlySet<Capability>;
}
