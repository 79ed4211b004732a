import { HttpSink } from '../../../conformance/delivery/sink.js';
import { makeIdentity } from '../../../conformance/keys.js';
import type { Identity } from '../../../conformance/keys.js';
import { agreementOf } from '../../../conformance/profile.js';
import { CAPABILITIES } from '../../../conformance/target/target.js';
import type { Capability, Claims, Target } from '../../../conformance/target/target.js';
import type { GoodReceiver, ReceiverOptions } from './good.js';

/** Keys are made once for all receivers of a test file: RSA takes its time. */
export interface Cast {
  readonly sender: Identity;
  readonly other: Identity;
  readonly receiver: Identity;
}

export function makeCast(): Cast {
  return { sender: makeIdentity('sender'), other: makeIdentity('other'), receiver: makeIdentity('receiver') };
}

/** Everything that can be claimed, so that nothing is merely observed. */
export const ALL_CLAIMS: Claims = {
  duplicate: 'identical',
  window: 60_000,
  afterWindow: 'deliver',
  mismatch: 'refuse',
  otherSender: 'deliver',
  inFlight: 'wait-or-retry',
  failedRetry: 'deliver',
  forgedFirst: 'harmless',
  startElsewhere: 'refuse',
  contentEncoding: 'accept',
  storeDown: 'retryable',
};

export interface StageOptions {
  readonly claims?: Claims;
  /** False leaves signing and encryption out: a run takes a quarter of the time. */
  readonly signed?: boolean;
  /** Silence at the end of each requirement, milliseconds. */
  readonly quiet?: number;
}

export interface Stage {
  readonly target: Target;
  readonly receiver: GoodReceiver;
  close(): Promise<void>;
}

/** Starts a receiver with two addresses and describes it as a target with short times and every hook. */
export async function stage(
  make: (options: ReceiverOptions) => GoodReceiver,
  cast: Cast,
  options: StageOptions = {},
): Promise<Stage> {
  const signed = options.signed ?? true;
  const receiver = make({
    identity: cast.receiver,
    trusted: [cast.sender.certificate.raw, cast.other.certificate.raw],
    requireSignature: signed,
    backend: undefined,
  });
  const urls = [await receiver.listen(), await receiver.listen()] as const;
  const capabilities = new Set(Object.keys(CAPABILITIES) as Capability[]);
  const absent: Capability[] = signed ? [] : ['signing', 'signature-required', 'encryption'];
  for (const name of absent) capabilities.delete(name);
  const target: Target = {
    name: receiver.constructor.name,
    version: undefined,
    notes: undefined,
    urls: [...urls],
    profile: 'edelivery',
    agreement: agreementOf('edelivery', 'sender', 'receiver'),
    identity: signed ? cast.sender : undefined,
    otherSender: { party: 'other', identity: signed ? cast.other : undefined },
    encryptFor: signed ? cast.receiver.certificate : undefined,
    receiptSigner: cast.receiver.certificate,
    tlsCa: undefined,
    openDelivery: async () => {
      const sink = await HttpSink.open({ host: '127.0.0.1', port: 0, accept: 200, refuse: 500 });
      receiver.options.backend = sink.url;
      return sink;
    },
    hooks: {
      restart: () => receiver.restart(),
      kill: () => receiver.restart(),
      storeDown: async () => void (receiver.storeUp = false),
      storeUp: async () => void (receiver.storeUp = true),
      clock: async (ms = 0) => void (receiver.now += ms),
    },
    times: {
      answer: 30_000,
      deliver: 5_000,
      quiet: options.quiet ?? 40,
      slow: 600,
      hook: 5_000,
      ready: 10_000,
      requirement: 120_000,
    },
    claims: options.claims ?? ALL_CLAIMS,
    largest: 2_000_000,
    capabilities,
  };
  return { target, receiver, close: () => receiver.close() };
}
