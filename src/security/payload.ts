import { gunzipSync } from 'node:zlib';
import type { StoredBody } from '../delivery/port.js';
import { GunzipFeed } from '../ebms/content-coding.js';
import { As4OnceError } from '../errors.js';
import type { HeaderList } from '../exchange.js';
import { AttachmentDigest, type AttachmentReference } from './attachment-digest.js';
import { GcmStream, type AttachmentKey } from './decrypt.js';
import { canonicalHeaders } from './mime-headers.js';
import type { PayloadPlan } from './part-info.js';
import { refusal, type SecurityRefusal } from './refusal.js';

const NOTHING = new Uint8Array();

/** Where a payload is kept until everything about the message is proven: a sink of the spool. */
export interface PayloadSink {
  write(chunk: Uint8Array): Promise<void>;
  finish(): Promise<StoredBody>;
  discard(): Promise<void>;
}

/** A payload as the application gets it: decrypted, proven, decompressed. */
export interface Payload extends PayloadPlan {
  /** Media type of its MIME part, for a payload without MimeType. */
  readonly partType: string;
  readonly body: StoredBody;
}

export interface PayloadChecks {
  readonly plan: PayloadPlan;
  readonly partType: string;
  /** Header fields of the MIME part, which the complete transform signs too. */
  readonly fields: HeaderList;
  /** Present where the attachment is encrypted. */
  readonly key: AttachmentKey | undefined;
  /** Present where the message is signed. */
  readonly reference: AttachmentReference | undefined;
  /** Most bytes of the decompressed payload. */
  readonly maxBytes: number;
}

/** How much is inflated before it is written: a bomb grows a thousandfold, so one step holds 8 MiB at most. */
const STEP = 8 * 1024;
/** Compressed bytes that wait for the payload's end, and are inflated in one call where they are all: most documents. */
const AT_ONCE = 32 * 1024;
/** What one call gives at most, so that it holds nobody up; what grows further is inflated by steps, in other threads. */
const AT_ONCE_PLAIN = 512 * 1024;

/**
 * One attachment on its way in: decrypted, digested and inflated as it streams by, into the sink. Nothing that went
 * there is believed before `end`. What is wrong is told in the order in which the sender did it: tag, digest,
 * compression.
 */
export class PayloadIntake {
  readonly #checks: PayloadChecks;
  readonly #sink: PayloadSink;
  readonly #decipher: GcmStream | undefined;
  readonly #digest: AttachmentDigest | undefined;
  #inflate: GunzipFeed | undefined;
  /** Compressed bytes of a payload that may be a short one. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #inflated: Uint8Array[] = [];
  #written = 0;
  #failure: As4OnceError | undefined;

  constructor(checks: PayloadChecks, sink: PayloadSink) {
    const { key, reference, partType } = checks;
    this.#checks = checks;
    this.#sink = sink;
    if (key !== undefined) this.#decipher = new GcmStream(key);
    if (reference !== undefined) this.#digest = digestFor(reference, checks.fields, key?.mimeType ?? partType);
  }

  /** Takes the chunk over: nobody may write into it afterwards. */
  async push(chunk: Uint8Array): Promise<void> {
    await this.#take(this.#decipher === undefined ? chunk : this.#decipher.update(chunk));
  }

  async #take(plain: Uint8Array): Promise<void> {
    if (plain.length === 0) return;
    this.#digest?.update(plain);
    if (!this.#checks.plan.compressed) await this.#write(plain);
    else if (this.#inflate !== undefined) await this.#inflateBySteps(this.#inflate, plain);
    else {
      this.#waiting.push(plain);
      this.#waitingBytes += plain.length;
      if (this.#waitingBytes > AT_ONCE) await this.#inflateBySteps(this.#inflateFrom(), this.#taken());
    }
  }

  /** The stored payload. Throws DECRYPTION_FAILED, AUTHENTICATION_FAILED or DECOMPRESSION_FAILED. */
  async end(): Promise<Payload> {
    const { plan, partType } = this.#checks;
    const name = plan.href ?? '';
    const last = this.#decipher === undefined ? NOTHING : this.#decipher.end();
    if (last === undefined) throw thrown(refusal('decryption', 'the message cannot be decrypted with the configured keys'));
    await this.#take(last);
    if (this.#digest?.matches() === false) {
      throw thrown(refusal('attachment', `${name.slice(0, 200)} is not what was signed`));
    }
    if (plan.compressed && this.#failure === undefined) await this.#inflateEnd();
    if (this.#failure !== undefined) throw this.#failure;
    return { ...plan, partType, body: await this.#sink.finish() };
  }

  async discard(): Promise<void> {
    await this.#sink.discard();
  }

  #inflateFrom(): GunzipFeed {
    this.#inflate = new GunzipFeed((bytes) => this.#inflated.push(bytes), this.#checks.maxBytes);
    return this.#inflate;
  }

  #taken(): Uint8Array {
    const bytes = Buffer.concat(this.#waiting, this.#waitingBytes);
    this.#waiting = [];
    return bytes;
  }

  async #inflateBySteps(inflate: GunzipFeed, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && this.#failure === undefined; at += STEP) {
      await this.#inflateStep(inflate.push(bytes.subarray(at, at + STEP)));
    }
  }

  /** A stream and a thread for each small document cost several times what inflating it does. */
  async #inflateEnd(): Promise<void> {
    if (this.#inflate !== undefined) {
      await this.#inflateStep(this.#inflate.end());
      return;
    }
    const bytes = this.#taken();
    const plain = inflatedAtOnce(bytes, Math.min(this.#checks.maxBytes, AT_ONCE_PLAIN));
    if (plain !== undefined) {
      await this.#write(plain);
      return;
    }
    const inflate = this.#inflateFrom();
    await this.#inflateBySteps(inflate, bytes);
    if (this.#failure === undefined) await this.#inflateStep(inflate.end());
  }

  /** A failure to inflate waits for the digest's verdict: damaged content is the commoner cause, and the graver one. */
  async #inflateStep(step: Promise<void>): Promise<void> {
    try {
      await step;
    } catch (error) {
      if (!(error instanceof As4OnceError)) throw error;
      const what = error.code === 'BODY_TOO_LARGE' ? `grows past ${this.#checks.maxBytes} bytes` : 'is no gzip';
      const name = (this.#checks.plan.href ?? '').slice(0, 200);
      this.#failure = new As4OnceError('DECOMPRESSION_FAILED', `${name} ${what}`);
      this.#inflated = [];
      return;
    }
    const inflated = this.#inflated;
    this.#inflated = [];
    for (const bytes of inflated) await this.#write(bytes);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.#failure !== undefined) return;
    this.#written += bytes.length;
    if (this.#written > this.#checks.maxBytes) {
      throw new As4OnceError('BODY_TOO_LARGE', `payload of more than ${this.#checks.maxBytes} bytes`);
    }
    await this.#sink.write(bytes);
  }
}

/** Undefined where it is longer, or no gzip: the stream tells which. */
function inflatedAtOnce(bytes: Uint8Array, maxBytes: number): Uint8Array | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: Math.max(1, maxBytes) });
  } catch {
    return undefined;
  }
}

/** Encryption gives the part another Content-Type; `mediaType` is the one that was signed. */
export function digestFor(reference: AttachmentReference, fields: HeaderList, mediaType: string): AttachmentDigest {
  if (reference.transform === 'attachmentContent') return new AttachmentDigest(reference, mediaType);
  const signed = fields.map(([name, value]): readonly [string, string] =>
    [name, name.toLowerCase() === 'content-type' ? mediaType : value]);
  const before = canonicalHeaders(signed);
  if (before === undefined) {
    throw thrown(refusal('attachment', `${reference.uri.slice(0, 200)}: header fields that cannot have been signed`));
  }
  return new AttachmentDigest(reference, mediaType, before);
}

/** A refusal at a place that has nobody to hand a value to. */
export function thrown(refused: SecurityRefusal): As4OnceError {
  return new As4OnceError(refused.code, `${refused.reason}: ${refused.detail}`);
}
