import { As4OnceError } from '../errors.js';
import { header } from '../exchange.js';
import type { HeaderList } from '../exchange.js';
import type { Limits } from '../limits.js';
import type { PartHead } from '../mime/part-head.js';
import type { Facts, Message } from '../message.js';
import type { AnswerIn, Early, EarlyMessage, Protocol, Read, Reading } from '../protocol.js';
import { present, trim } from './elements.js';
import { GunzipFeed, isGzipCoded } from './content-coding.js';
import { earlyFingerprint, fingerprint } from './fingerprint.js';
import { packageReader } from './package.js';
import type { PackageReader, PartWatch, PartsWanted } from './package.js';
import type { Envelope, UserMessage } from './units.js';
import { epochOf } from './xs-date-time.js';

/** AS4 over HTTP (ebMS 3.0 Core, AS4 1.0): reads the root part, and the others only as far as the fingerprint needs. */
export const as4Protocol: Protocol = {
  name: 'as4',
  /** What the head alone rules out is thrown by the first push, so that it is answered like everything unreadable. */
  open: (head, limits) => openOrRefuse(head.headers, () => new As4Reading(head.headers, limits)),
};

/** A reading, or one that refuses in its place. */
export function openOrRefuse(headers: HeaderList, open: () => Reading): Reading {
  try {
    return open();
  } catch (error) {
    if (error instanceof As4OnceError) return new RefusedReading(error, headers);
    throw error;
  }
}

class RefusedReading implements Reading {
  readonly early = undefined;
  readonly answerIn: AnswerIn;
  readonly #error: As4OnceError;

  constructor(error: As4OnceError, headers: HeaderList) {
    this.#error = error;
    this.answerIn = { protocol: 'as4', soap: announcedSoap(headers) };
  }

  push(): never {
    throw this.#error;
  }

  end(): Promise<Read> {
    return Promise.reject(this.#error);
  }
}

/** The SOAP version that the head speaks of; 1.2 where it says nothing, which is what AS4 asks for (AS4 1.0, 2.1). */
export function announcedSoap(headers: HeaderList): '1.1' | '1.2' {
  return /(?:^|[;\s]type\s*=)[\s"]*text\/xml/i.test(header(headers, 'content-type') ?? '') ? '1.1' : '1.2';
}

/** Judges a message before it becomes one: the header when it is read, each part as it comes, and the whole. */
export interface MessageCheck {
  /** Throws As4OnceError to refuse. Undefined: nothing is looked at. */
  header(envelope: Envelope, user: UserMessage): PartsCheck | undefined;
}

export interface PartsCheck {
  part(head: PartHead): PartWatch;
  /** All parts have come. */
  end(): void;
}

/** The same, for whoever does not take a header's word. */
export function checkedAs4Protocol(check: MessageCheck): Protocol {
  return { name: 'as4', open: (head, limits) => openOrRefuse(head.headers, () => new As4Reading(head.headers, limits, check)) };
}

class As4Reading implements Reading {
  readonly #package: PackageReader;
  readonly #check: MessageCheck | undefined;
  #parts: PartsCheck | undefined;
  readonly #announced: '1.1' | '1.2';
  readonly #gunzip: GunzipFeed | undefined;
  early: Early | undefined;

  constructor(headers: HeaderList, limits: Limits, check?: MessageCheck) {
    this.#check = check;
    this.#announced = announcedSoap(headers);
    this.#package = packageReader(soleContentType(headers), limits, (envelope) => this.#read(envelope));
    this.#gunzip = isGzipCoded(header(headers, 'content-encoding'))
      ? new GunzipFeed((bytes) => this.#package.push(bytes), limits.maxBody) : undefined;
  }

  push(chunk: Uint8Array): void | Promise<void> {
    if (this.#gunzip !== undefined) return this.#gunzip.push(chunk);
    this.#package.push(chunk);
  }

  async end(): Promise<Read> {
    await this.#gunzip?.end();
    this.#package.end();
    const envelope = this.#package.envelope;
    if (envelope === undefined) throw new As4OnceError('MIME_BROKEN', 'no root part');
    if (this.early === undefined) this.#read(envelope);
    this.#parts?.end();
    const early = this.early!;
    if (early.kind === 'pass') return early;
    const whole = early.message.fingerprint ?? fingerprint(envelope, this.#package.parts);
    return { kind: 'message', message: { ...early.message, fingerprint: whole }, bundled: early.bundled };
  }

  get root(): Uint8Array | undefined {
    return this.#package.root;
  }

  get claimed(): Reading['claimed'] {
    const { envelope } = this.#package;
    return envelope?.userMessage === undefined ? undefined : messageOf(envelope, envelope.userMessage);
  }

  get answerIn(): AnswerIn {
    const messageId = this.#package.envelope?.userMessage?.messageId;
    const soap = this.#package.soap ?? this.#announced;
    return present<AnswerIn>({ protocol: 'as4', soap, messageId });
  }

  /** Takes what the envelope says, and what the fingerprint and the check want of the parts behind it. */
  #read(envelope: Envelope): PartsWanted {
    if (envelope.messaging === undefined) throw new As4OnceError('HEADER_INVALID', 'eb:Messaging missing');
    if (envelope.userMessage === undefined) {
      this.early = { kind: 'pass' };
      return { hash: false };
    }
    const parts = this.#check?.header(envelope, envelope.userMessage);
    this.#parts = parts;
    const known = earlyFingerprint(envelope);
    const message: EarlyMessage = { ...messageOf(envelope, envelope.userMessage), fingerprint: known };
    this.early = { kind: 'message', message, bundled: envelope.signals.length > 0 };
    return { hash: known === undefined, watch: parts === undefined ? undefined : (head) => parts.part(head) };
  }
}

/** Two Content-Type fields could be read either way. */
function soleContentType(headers: HeaderList): string | undefined {
  const fields = headers.filter(([name]) => name.toLowerCase() === 'content-type');
  const values = new Set(fields.map(([, value]) => value.trim()));
  if (values.size > 1) throw new As4OnceError('MEDIA_TYPE', 'two Content-Type fields');
  return [...values][0];
}

/**
 * The message without its fingerprint. White space around the id is the header's layout and not the id (a pretty-printed
 * retry is the same message, and access points that trim say so in their Receipts); inside, every character counts.
 */
export function messageOf(envelope: Envelope, user: UserMessage): Omit<Message, 'fingerprint'> {
  return { protocol: 'as4', reference: trim(user.messageId), facts: factsOf(user), signed: isHeaderSigned(envelope) };
}

/** Longest fact, characters: facts are stored with the record and are the sender's to choose. */
const MAX_FACT = 1_024;

/** What the header says of the message, each text bounded. */
export function factsOf(user: UserMessage): Facts {
  const property = (name: string): string | undefined => user.messageProperties.find((p) => p.name === name)?.value;
  const texts = {
    c1: property('originalSender'),
    c4: property('finalRecipient'),
    service: user.service.value,
    serviceType: user.service.type,
    action: user.action,
    conversationId: user.conversationId,
    agreement: user.agreement?.value,
    mpc: user.mpc,
  };
  const kept = Object.entries(texts).flatMap(([name, value]) =>
    (value === undefined || value === '' ? [] : [[name, value.slice(0, MAX_FACT)] as const]));
  return present<Facts>({
    from: user.from.ids, to: user.to.ids, ...Object.fromEntries(kept), timestamp: epochOf(user.timestamp),
  });
}

/** Whether a signature names eb:Messaging or an element around it. Its value is not verified here. */
function isHeaderSigned(envelope: Envelope): boolean {
  const around = new Set<unknown>();
  for (let at = envelope.messaging; at !== undefined; at = at.parent) around.add(at);
  return envelope.signatures.some((s) => s.references.some((r) =>
    r.uri === '' || (r.uri.startsWith('#') && around.has(envelope.document.ids.get(r.uri.slice(1))))));
}
