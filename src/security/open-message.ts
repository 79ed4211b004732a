import { createHash, type Hash, hash } from 'node:crypto';
import type { StoredBody } from '../delivery/port.js';
import type { Envelope, UserMessage } from '../ebms/units.js';
import { notUnderstood } from '../ebms/header-blocks.js';
import { As4OnceError } from '../errors.js';
import type { Limits } from '../limits.js';
import type { Fingerprint } from '../message.js';
import { comparableId, writtenId } from '../mime/content-type.js';
import type { PartHead } from '../mime/part-head.js';
import type { XmlElement } from '../xml/tree.js';
import { STRICT } from './algorithms.js';
import { bodyPayloads, writtenOut } from './body-payload.js';
import { decryptBody, prepareDecryption, type Decryption, type DecryptionKey } from './decrypt.js';
import { payloadPlans, type PayloadPlan } from './part-info.js';
import { PayloadIntake, thrown, type Payload, type PayloadSink } from './payload.js';
import type { SecurityRefusal } from './refusal.js';
import { verifyEnvelope, type Verified, type VerifyOptions } from './verify.js';

/** The security half of a P-Mode. */
export interface SecurityPMode extends Omit<VerifyOptions, 'now' | 'decryptedBody'> {
  readonly name: string;
  readonly signature: 'required' | 'optional';
  /** `required`: every attachment, and a Body with content. Where it is optional, what is encrypted is decrypted. */
  readonly encryption: 'required' | 'optional';
}

export interface InboundOptions {
  /** The P-Mode for a message, found by what its header claims; undefined is answered with PMODE_MISMATCH. */
  pmodeOf(message: UserMessage): SecurityPMode | undefined;
  readonly keys: readonly DecryptionKey[];
  /** A sink of the spool for each payload. */
  openPayload(): PayloadSink;
  /** Wall clock, epoch ms. */
  now(): number;
  /** Most bytes of one decompressed payload. */
  readonly maxPayload: number;
}

/** What the endpoint's reading hands to its own delivery (Read.content). Everything in it is proven. */
export interface InboundContent {
  readonly envelope: Envelope;
  readonly message: UserMessage;
  readonly pmode: SecurityPMode;
  /** Absent for a message that needs no signature and has none. */
  readonly verified: Verified | undefined;
  readonly payloads: readonly Payload[];
  /** Frees the payloads. Idempotent. */
  dispose(): Promise<void>;
}

/** A message whose header is verified, while its attachments arrive. */
export class OpenMessage {
  readonly #envelope: Envelope;
  readonly #user: UserMessage;
  readonly #pmode: SecurityPMode;
  readonly #plans: readonly PayloadPlan[];
  readonly #limits: Limits;
  readonly #options: InboundOptions;
  readonly verified: Verified | undefined;
  /** Digests of the parts as they came, where the fingerprint of an unsigned message needs them. */
  readonly digests: Uint8Array[] = [];
  readonly #payloads = new Map<PayloadPlan, Payload>();
  #decryption: Decryption | undefined;
  #intake: PayloadIntake | undefined;
  #plan: PayloadPlan | undefined;
  #hash: Hash | undefined;

  private constructor(
    envelope: Envelope, user: UserMessage, pmode: SecurityPMode, verified: Verified | undefined,
    plans: readonly PayloadPlan[], limits: Limits, options: InboundOptions,
  ) {
    this.#envelope = envelope;
    this.#user = user;
    this.#pmode = pmode;
    this.verified = verified;
    this.#limits = limits;
    this.#options = options;
    this.#plans = plans;
  }

  /** Throws what the header has to be refused for; after it, what the header says is what its signer said. */
  static verified(envelope: Envelope, user: UserMessage, limits: Limits, options: InboundOptions): OpenMessage {
    const pmode = options.pmodeOf(user);
    if (pmode === undefined) {
      throw new As4OnceError('PMODE_MISMATCH', `${user.service.value} ${user.action}`.slice(0, 200));
    }
    // what no signature could make right is told as what it is
    const foreign = notUnderstood(envelope);
    if (foreign !== undefined) throw new As4OnceError('FEATURE_UNSUPPORTED', `header ${foreign.name.slice(0, 100)} of ${foreign.uri.slice(0, 200)} must be understood`);
    const plans = payloadPlans(user);
    const answer = verifyEnvelope(envelope, { ...pmode, now: options.now() });
    if (!answer.ok && (pmode.signature === 'required' || answer.reason !== 'unsigned')) throw thrown(answer);
    return new OpenMessage(envelope, user, pmode, answer.ok ? answer : undefined, plans, limits, options);
  }

  /**
   * Where anybody who is trusted may claim to be this sender (`party: any`), a copy is only a copy if the same subject
   * signed it: somebody else, who has seen the header, gets no Receipt for it. A renewed certificate keeps its subject.
   */
  bound(fingerprint: Fingerprint): Fingerprint {
    if (this.verified === undefined || this.#pmode.party === 'commonName') return fingerprint;
    return `${fingerprint}.${hash('sha256', this.verified.signer.subject.der, 'base64url')}`;
  }

  /** A part begins. Throws MIME_BROKEN, POLICY_FAILED or DECRYPTION_FAILED. */
  begin(head: PartHead): void {
    const plan = this.#planFor(head.contentId ?? '');
    if (plan === undefined) throw new As4OnceError('MIME_BROKEN', `part ${head.index} is no payload of the message`);
    if (this.#payloads.has(plan) || this.#plan === plan) {
      throw new As4OnceError('MIME_BROKEN', `two parts ${plan.href ?? ''}`.slice(0, 200));
    }
    const key = this.#decrypt().attachments.get(plan.contentId ?? '');
    if (key === undefined && this.#pmode.encryption === 'required') {
      throw new As4OnceError('POLICY_FAILED', `${(plan.href ?? '').slice(0, 200)} is not encrypted`);
    }
    const reference = this.verified?.attachments.find((r) => r.contentId === plan.contentId);
    const partType = head.contentType ?? '';
    const checks = { plan, key, reference, partType, fields: head.fields, maxBytes: this.#options.maxPayload };
    this.#plan = plan;
    this.#intake = new PayloadIntake(checks, this.#options.openPayload());
    if (this.verified === undefined) this.#hash = createHash('sha256');
  }

  /** RFC 2392: the field as it is written; some senders have percent-encoded it as in the URI. */
  #planFor(contentId: string): PayloadPlan | undefined {
    const [written, lenient] = [writtenId(contentId), comparableId(contentId)];
    const attached = this.#plans.filter((p) => p.contentId !== undefined);
    return attached.find((p) => p.contentId === written) ?? attached.find((p) => p.contentId === lenient);
  }

  async data(bytes: Uint8Array): Promise<void> {
    this.#hash?.update(bytes);
    await this.#intake?.push(bytes);
  }

  async end(): Promise<void> {
    if (this.#intake === undefined || this.#plan === undefined) return;
    if (this.#hash !== undefined) this.digests.push(this.#hash.digest());
    this.#payloads.set(this.#plan, await this.#intake.end());
    this.#intake = undefined;
  }

  /** All payloads in the order of their PartInfos. Throws where one did not come. */
  async finish(): Promise<InboundContent> {
    const body = this.#body();
    const missing = this.#plans.find((p) => p.contentId !== undefined && !this.#payloads.has(p));
    if (missing !== undefined) throw new As4OnceError('MIME_BROKEN', `no part ${missing.href ?? ''}`.slice(0, 200));
    for (const [plan, element] of bodyPayloads(body, this.#plans)) {
      this.#payloads.set(plan, { ...plan, partType: 'application/xml', body: await this.#stored(writtenOut(element)) });
    }
    const payloads = this.#plans.flatMap((plan) => this.#payloads.get(plan) ?? []);
    return {
      envelope: this.#envelope, message: this.#user, pmode: this.#pmode, verified: this.verified, payloads,
      dispose: async () => {
        await Promise.all(payloads.map((p) => p.body.dispose()));
      },
    };
  }

  async discard(): Promise<void> {
    await this.#intake?.discard();
    this.#intake = undefined;
    await Promise.all([...this.#payloads.values()].map((p) => p.body.dispose()));
  }

  #decrypt(): Decryption {
    if (this.#decryption === undefined) {
      this.#decryption = given(prepareDecryption(this.#envelope, this.#options.keys, this.#pmode.algorithms ?? STRICT));
    }
    return this.#decryption;
  }

  /** The Body in clear, verified: an encrypted one was still a claim when the header was. */
  #body(): XmlElement {
    const { body } = this.#envelope;
    if (body === undefined) throw new As4OnceError('HEADER_INVALID', 'no SOAP Body');
    if (!this.#envelope.bodyEncrypted) {
      const content = body.children.some((n) => n.kind === 'element');
      if (content && this.#pmode.encryption === 'required') {
        throw new As4OnceError('POLICY_FAILED', 'the SOAP Body is not encrypted');
      }
      return body;
    }
    const decryptedBody = decryptBody(this.#envelope, this.#decrypt(), this.#limits);
    if ('ok' in decryptedBody) throw thrown(decryptedBody);
    if (this.verified !== undefined) {
      given(verifyEnvelope(this.#envelope, { ...this.#pmode, now: this.#options.now(), decryptedBody }));
    }
    return decryptedBody;
  }

  async #stored(document: string): Promise<StoredBody> {
    const sink = this.#options.openPayload();
    await sink.write(Buffer.from(document));
    return await sink.finish();
  }
}

/** The answer, or what it refuses thrown. */
function given<T extends { readonly ok: true }>(answer: T | SecurityRefusal): T {
  if (!answer.ok) throw thrown(answer);
  return answer;
}
