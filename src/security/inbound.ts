import { announcedSoap, messageOf, openOrRefuse } from '../ebms/as4.js';
import { GunzipFeed, isGzipCoded } from '../ebms/content-coding.js';
import { readEnvelope } from '../ebms/envelope.js';
import { earlyFingerprint, fingerprint } from '../ebms/fingerprint.js';
import { soapIn } from '../ebms/package.js';
import { As4OnceError } from '../errors.js';
import { header, type HeaderList } from '../exchange.js';
import type { Limits } from '../limits.js';
import { boundaryOf, parseContentType, type MediaType } from '../mime/content-type.js';
import type { PartHead } from '../mime/part-head.js';
import { MimeScanner } from '../mime/scanner.js';
import type { AnswerIn, Early, Protocol, Read, Reading } from '../protocol.js';
import { OpenMessage, type InboundOptions } from './open-message.js';
import { VerifiedRoots } from './verified-roots.js';

/**
 * AS4 as its own endpoint reads it: the header is verified as soon as the root part is complete, so that what is not
 * signed by whom it should be never becomes a message; attachments are decrypted, checked and decompressed while they
 * arrive. A copy that the ledger knows (`skim`) costs no private-key operation, and if its header comes byte for byte as
 * it did before, neither parsing nor verification.
 */
export function inboundProtocol(options: InboundOptions): Protocol {
  const roots = new VerifiedRoots();
  return { name: 'as4', open: (head, limits) => openOrRefuse(head.headers, () => new InboundReading(head.headers, limits, options, roots)) };
}

type PartEvent =
  | { readonly kind: 'head'; readonly head: PartHead }
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };

/** Of a coded body, how much is undone before its parts are worked on; it may grow a thousandfold. */
const STEP = 1024;
/** Bytes of parts that wait at most while the ledger is asked. */
const WAITING = 1024 * 1024;

class InboundReading implements Reading {
  readonly #limits: Limits;
  readonly #options: InboundOptions;
  readonly #media: MediaType | undefined;
  readonly #scanner: MimeScanner | undefined;
  readonly #gunzip: GunzipFeed | undefined;
  #root: Uint8Array[] = [];
  #rootBytes = 0;
  #rootHead: PartHead | undefined;
  /** Events of parts behind the root that wait to be worked on, and their bytes. */
  #events: PartEvent[] = [];
  #waiting = 0;
  /** The ledger was asked, or need not be: parts are worked on as they come. */
  #begun = false;
  #message: OpenMessage | undefined;
  readonly #roots: VerifiedRoots;
  /** Opens a message whose root was verified before, if it has to be taken in all the same. */
  #reopen: (() => void) | undefined;
  root: Uint8Array | undefined;
  #skimming = false;
  early: Early | undefined;
  claimed: Reading['claimed'];
  answerIn: AnswerIn;
  readonly #announced: '1.1' | '1.2';

  constructor(headers: HeaderList, limits: Limits, options: InboundOptions, roots: VerifiedRoots) {
    this.#roots = roots;
    this.#announced = announcedSoap(headers);
    this.answerIn = { protocol: 'as4', soap: this.#announced };
    this.#limits = limits;
    this.#options = options;
    const type = header(headers, 'content-type');
    this.#media = type === undefined ? undefined : parseContentType(type);
    if (this.#media?.type === 'multipart/related') {
      const start = this.#media.parameters.get('start');
      this.#scanner = new MimeScanner(
        { head: (head) => this.#head(head), data: (bytes) => this.#data(bytes), end: () => this.#end() },
        { boundary: boundaryOf(this.#media), ...(start === undefined ? {} : { start }) }, limits,
      );
    } else if (this.#media === undefined
      || !/^(application\/soap\+xml|text\/xml|application\/xml)$/.test(this.#media.type)) {
      throw new As4OnceError('MEDIA_TYPE', (type ?? 'no Content-Type').slice(0, 80));
    }
    if (isGzipCoded(header(headers, 'content-encoding'))) {
      this.#gunzip = new GunzipFeed((bytes) => this.#take(bytes), limits.maxBody);
    }
  }

  async push(chunk: Uint8Array): Promise<void> {
    await this.#guarded(async () => {
      await this.#work();
      if (this.#gunzip === undefined) {
        this.#take(chunk);
        await this.#workUnlessAsking();
        return;
      }
      for (let at = 0; at < chunk.length; at += STEP) {
        await this.#gunzip.push(chunk.subarray(at, at + STEP));
        await this.#workUnlessAsking();
      }
    });
  }

  /** The parts behind the root need not be decrypted or hashed: this message is known. */
  skim(): void {
    this.#skimming = true;
    this.#events = [];
  }

  async end(): Promise<Read> {
    return await this.#guarded(async () => {
      await this.#gunzip?.end();
      if (this.#scanner === undefined) this.#readRoot();
      else this.#scanner.end();
      const early = this.early;
      if (early === undefined) throw new As4OnceError('MIME_BROKEN', 'no root part');
      if (early.kind === 'pass') return { kind: 'pass' };
      const { bundled, message } = early;
      if (this.#skimming) {
        if (message.fingerprint === undefined) throw new As4OnceError('INTERNAL', 'skimmed without a fingerprint');
        return { kind: 'message', bundled, message: { ...message, fingerprint: message.fingerprint } };
      }
      await this.#work();
      const opened = this.#message;
      if (opened === undefined) throw new As4OnceError('INTERNAL', 'a message that was not opened');
      const content = await opened.finish();
      const whole = message.fingerprint ?? opened.bound(fingerprint(content.envelope, opened.digests));
      return { kind: 'message', bundled, message: { ...message, fingerprint: whole }, content };
    });
  }

  /** The exchange ended before `end` answered: frees what was kept. Idempotent. */
  async abandon(): Promise<void> {
    await this.#message?.discard();
  }

  async #guarded<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  #take(bytes: Uint8Array): void {
    if (this.#scanner === undefined) this.#keepRoot(bytes);
    else this.#scanner.push(bytes);
  }

  #head(head: PartHead): void {
    if (head.index === 0) this.#rootHead = head;
    else if (this.#wanted()) this.#events.push({ kind: 'head', head });
  }

  #data(bytes: Uint8Array): void {
    if (this.early === undefined) this.#keepRoot(bytes);
    else if (this.#wanted()) {
      this.#waiting += bytes.length;
      // views of chunks that are handed over with the request, or of what a decoder made: nobody writes into them again
      this.#events.push({ kind: 'data', bytes });
    }
  }

  #end(): void {
    if (this.early === undefined) this.#readRoot();
    else if (this.#wanted()) this.#events.push({ kind: 'end' });
  }

  /** What came in the same chunk as the root waits: the ledger may know the message, and then it is never looked at. */
  async #workUnlessAsking(): Promise<void> {
    if (this.#begun || this.#waiting > WAITING) await this.#work();
  }

  #wanted(): boolean {
    return !this.#skimming && (this.#message !== undefined || this.#reopen !== undefined);
  }

  #keepRoot(bytes: Uint8Array): void {
    this.#rootBytes += bytes.length;
    if (this.#rootBytes > this.#limits.rootPart) {
      throw new As4OnceError('ROOT_TOO_LARGE', `more than ${this.#limits.rootPart} bytes`);
    }
    this.#root.push(Buffer.from(bytes));
  }

  #readRoot(): void {
    const root = Buffer.concat(this.#root);
    this.#root = [];
    const media = this.#rootHead === undefined ? this.#media : parseContentType(this.#rootHead.contentType ?? '');
    const charset = media?.parameters.get('charset');
    const name = VerifiedRoots.nameOf(root, charset);
    const known = this.#roots.find(name, this.#options.now());
    if (known === undefined) {
      this.#openRoot(root, charset, name);
      return;
    }
    this.root = root;
    this.answerIn = known.answerIn;
    this.early = known.early;
    this.#reopen = () => this.#openRoot(root, charset, name);
  }

  #openRoot(root: Buffer, charset: string | undefined, name: string): void {
    this.#reopen = undefined;
    this.answerIn = { protocol: 'as4', soap: soapIn(root) ?? this.#announced };
    const envelope = readEnvelope(root, this.#limits, charset === undefined ? {} : { charset });
    const user = envelope.userMessage;
    if (envelope.messaging === undefined) throw new As4OnceError('HEADER_INVALID', 'eb:Messaging missing');
    const messageId = user === undefined ? {} : { messageId: user.messageId };
    this.answerIn = { protocol: 'as4', soap: envelope.soap, ...messageId };
    this.root = root;
    if (user === undefined) {
      if (envelope.signals.some((s) => s.kinds.includes('PullRequest'))) throw new As4OnceError('FEATURE_UNSUPPORTED', 'pulling');
      this.early = { kind: 'pass' };
      return;
    }
    const claimed = messageOf(envelope, user);
    this.claimed = claimed;
    this.#message = OpenMessage.verified(envelope, user, this.#limits, this.#options);
    const { verified } = this.#message;
    const known = earlyFingerprint(envelope);
    const message = { ...claimed, signed: verified !== undefined, fingerprint: known && this.#message.bound(known) };
    const early = { kind: 'message', message, bundled: envelope.signals.length > 0 } as const;
    this.early = early;
    if (verified === undefined || known === undefined) return;
    const { until } = verified;
    this.#roots.add(name, { early, answerIn: this.answerIn, verified: this.#options.now(), until }, root.length);
  }

  async #work(): Promise<void> {
    if (this.#skimming) return;
    this.#reopen?.();
    const message = this.#message;
    if (message === undefined) return;
    const events = this.#events;
    this.#events = [];
    this.#waiting = 0;
    this.#begun = true;
    for (const event of events) {
      if (event.kind === 'head') message.begin(event.head);
      else if (event.kind === 'data') await message.data(event.bytes);
      else await message.end();
    }
  }
}
