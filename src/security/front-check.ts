import type { MessageCheck, PartsCheck } from '../ebms/as4.js';
import { encryptedAttachments, readEncryption } from '../ebms/encryption-info.js';
import type { UserMessage } from '../ebms/units.js';
import { As4OnceError } from '../errors.js';
import { comparableId } from '../mime/content-type.js';
import type { PartHead } from '../mime/part-head.js';
import type { AttachmentReference } from './attachment-digest.js';
import type { SecurityPMode } from './open-message.js';
import { digestFor, thrown } from './payload.js';
import { refusal } from './refusal.js';
import { verifyEnvelope } from './verify.js';

export interface SignatureCheckOptions {
  /** By what a message's signature is judged; undefined where policy does not ask. */
  pmodeOf(user: UserMessage): SecurityPMode | undefined;
  /** Wall clock, epoch ms. */
  now(): number;
}

/**
 * What a front can see of a message's security without any key: SignedInfo, the certificate's chain and name, the
 * digests of header and Body, and of the parts that are in clear. So a forger is refused before he can touch an id, here
 * or at an access point that burns ids on a failed verification. Digests of what is encrypted stay the signer's claims.
 */
export function signatureCheck({ pmodeOf, now }: SignatureCheckOptions): MessageCheck {
  return {
    header: (envelope, user) => {
      const pmode = pmodeOf(user);
      if (pmode === undefined) return undefined;
      const answer = verifyEnvelope(envelope, { ...pmode, now: now() });
      if (!answer.ok) throw thrown(answer);
      return new SignedParts(answer.attachments, encryptedAttachments(readEncryption(envelope)));
    },
  };
}

class SignedParts implements PartsCheck {
  readonly #missing: Map<string, AttachmentReference>;
  readonly #encrypted: ReadonlySet<string>;

  constructor(signed: readonly AttachmentReference[], encrypted: ReadonlySet<string>) {
    this.#missing = new Map(signed.map((reference) => [reference.contentId, reference]));
    this.#encrypted = encrypted;
  }

  part(head: PartHead): { update(bytes: Uint8Array): void; end(): void } {
    const contentId = head.contentId === undefined ? '' : comparableId(head.contentId);
    const reference = this.#missing.get(contentId);
    if (reference === undefined) throw new As4OnceError('MIME_BROKEN', `part ${head.index} is no payload of the message, or comes twice`);
    this.#missing.delete(contentId);
    if (this.#encrypted.has(contentId)) return { update: () => undefined, end: () => undefined };
    const digest = digestFor(reference, head.fields, head.contentType ?? '');
    return {
      update: (bytes) => digest.update(bytes),
      end: () => {
        if (!digest.matches()) throw thrown(refusal('attachment', `${reference.uri.slice(0, 200)} is not what was signed`));
      },
    };
  }

  end(): void {
    const [missing] = this.#missing.values();
    if (missing !== undefined) throw new As4OnceError('MIME_BROKEN', `no part ${missing.uri.slice(0, 200)}`);
  }
}
