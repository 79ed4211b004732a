import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { As4OnceError } from '../errors.js';
import type { Limits } from '../limits.js';
import { boundaryOf, parseContentType } from '../mime/content-type.js';
import type { MediaType } from '../mime/content-type.js';
import type { PartHead } from '../mime/part-head.js';
import { MimeScanner } from '../mime/scanner.js';
import { NO_ENVELOPE, readEnvelope } from './envelope.js';
import type { EnvelopeOptions } from './envelope.js';
import type { PartDigests } from './fingerprint.js';
import type { Envelope } from './units.js';

/** The root part's bytes, kept up to limits.rootPart. */
class RootBytes {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(limits: Limits) {
    this.#limit = limits.rootPart;
  }

  push(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > this.#limit) throw new As4OnceError('ROOT_TOO_LARGE', `more than ${this.#limit} bytes`);
    this.#pieces.push(Buffer.from(bytes));
  }

  /** All bytes, and frees them here. */
  take(): Buffer {
    const [first = Buffer.alloc(0), ...more] = this.#pieces;
    const all = more.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    return all;
  }
}

/** Looks on while a part behind the root comes, decoded; throws to refuse it. */
export interface PartWatch {
  update(bytes: Uint8Array): void;
  end(): void;
}

/** What somebody wants to know of the parts: whether they have to be hashed, and whom to show them to. */
export interface PartsWanted {
  readonly hash: boolean;
  readonly watch?: ((head: PartHead) => PartWatch) | undefined;
}

/** Reads a body (its content coding undone) to its envelope: multipart/related, or the bare envelope. */
export interface PackageReader {
  push(bytes: Uint8Array): void;
  /** Throws unless the package is whole. */
  end(): void;
  /** Undefined until the root part is complete. */
  readonly envelope: Envelope | undefined;
  /** The root part as it came; undefined until it is complete. */
  readonly root: Uint8Array | undefined;
  /** Digests of the parts behind the root that are complete. */
  readonly parts: PartDigests;
  /** SOAP version, also of an envelope that was refused: what to answer in. */
  readonly soap: '1.1' | '1.2' | undefined;
}

const SOAP_TYPES: readonly string[] = ['application/soap+xml', 'text/xml', 'application/xml', 'application/xop+xml'];

/**
 * The reader for a request's Content-Type. An unknown type is read as a bare envelope if it turns out to be one, as
 * access points do. `wantsParts` is asked once the envelope is read.
 * Throws MEDIA_TYPE for what can be neither.
 */
export function packageReader(
  contentType: string | undefined, limits: Limits, wantsParts: (envelope: Envelope) => PartsWanted,
): PackageReader {
  const media = contentType === undefined ? undefined : parseContentType(contentType);
  if (media?.type === 'multipart/related') return new MultipartReader(media, limits, wantsParts);
  if (media?.type.startsWith('multipart/') === true) throw new As4OnceError('MEDIA_TYPE', media.type.slice(0, 80));
  return new BareReader(media, limits);
}

class MultipartReader implements PackageReader {
  readonly #limits: Limits;
  readonly #wantsParts: (envelope: Envelope) => PartsWanted;
  readonly #scanner: MimeScanner;
  readonly #rootBytes: RootBytes;
  readonly #digests: Uint8Array[] = [];
  #hash: Hash | undefined;
  #current = 0;
  #wanted: PartsWanted = { hash: false };
  #watch: PartWatch | undefined;
  root: Uint8Array | undefined;
  envelope: Envelope | undefined;
  soap: '1.1' | '1.2' | undefined;

  constructor(media: MediaType, limits: Limits, wantsParts: (envelope: Envelope) => PartsWanted) {
    this.#limits = limits;
    this.#wantsParts = wantsParts;
    this.#rootBytes = new RootBytes(limits);
    const start = media.parameters.get('start');
    this.#scanner = new MimeScanner(
      { head: (head) => this.#head(head), data: (bytes) => this.#data(bytes), end: (head) => this.#end(head) },
      { boundary: boundaryOf(media), ...(start === undefined ? {} : { start }) },
      limits,
    );
  }

  get parts(): PartDigests {
    return this.#digests;
  }

  push(bytes: Uint8Array): void {
    this.#scanner.push(bytes);
  }

  end(): void {
    this.#scanner.end();
  }

  #head(head: PartHead): void {
    this.#current = head.index;
    this.#hash = this.#wanted.hash ? createHash('sha256') : undefined;
    if (head.index > 0) this.#watch = this.#wanted.watch?.(head);
  }

  #data(bytes: Uint8Array): void {
    if (this.#current === 0) this.#rootBytes.push(bytes);
    else {
      this.#hash?.update(bytes);
      this.#watch?.update(bytes);
    }
  }

  #end(head: PartHead): void {
    if (head.index > 0) {
      if (this.#hash !== undefined) this.#digests.push(this.#hash.digest());
      this.#watch?.end();
      this.#watch = undefined;
      return;
    }
    const root = this.#rootBytes.take();
    this.root = root;
    this.soap = soapIn(root);
    this.envelope = readEnvelope(root, this.#limits, charsetOf(parseContentType(head.contentType ?? '')));
    this.soap = this.envelope.soap;
    this.#wanted = this.#wantsParts(this.envelope);
  }
}

class BareReader implements PackageReader {
  readonly parts: PartDigests = [];
  readonly #limits: Limits;
  readonly #options: EnvelopeOptions;
  readonly #known: boolean;
  readonly #rootBytes: RootBytes;
  #began = false;
  root: Uint8Array | undefined;
  envelope: Envelope | undefined;
  soap: '1.1' | '1.2' | undefined;

  constructor(media: MediaType | undefined, limits: Limits) {
    this.#limits = limits;
    this.#options = charsetOf(media);
    this.#known = media !== undefined && SOAP_TYPES.includes(media.type);
    this.#rootBytes = new RootBytes(limits);
  }

  push(bytes: Uint8Array): void {
    if (!this.#began && !this.#known && bytes.length > 0) this.#mustBeginLikeXml(bytes);
    this.#rootBytes.push(bytes);
  }

  end(): void {
    const root = this.#rootBytes.take();
    this.root = root;
    this.soap = soapIn(root);
    try {
      this.envelope = readEnvelope(root, this.#limits, this.#options);
    } catch (error) {
      const foreign = error instanceof As4OnceError
        && (error.detail.startsWith(NO_ENVELOPE) || (error.code === 'XML_BROKEN' && !this.#known));
      throw foreign ? new As4OnceError('MEDIA_TYPE', error.detail, { cause: error }) : error;
    }
    this.soap = this.envelope.soap;
  }

  /** A type that says nothing is only taken for a body that begins as XML must, so that other uploads end at once. */
  #mustBeginLikeXml(bytes: Uint8Array): void {
    // white space, byte order marks and the NULs of UTF-16 may come first
    const first = bytes.find((b) => b !== 0x20 && b !== 0x09 && b !== 0x0a && b !== 0x0d && b !== 0 && b < 0xbb);
    if (first === undefined) return;
    if (first !== 0x3c) throw new As4OnceError('MEDIA_TYPE', 'neither multipart/related nor XML');
    this.#began = true;
  }
}

function charsetOf(media: MediaType | undefined): EnvelopeOptions {
  const charset = media?.parameters.get('charset');
  return charset === undefined ? {} : { charset };
}

/** The SOAP version by the namespace that stands in the bytes, for an answer to an envelope that cannot be read. */
export function soapIn(root: Buffer): '1.1' | '1.2' | undefined {
  if (root.includes('http://www.w3.org/2003/05/soap-envelope')) return '1.2';
  return root.includes('http://schemas.xmlsoap.org/soap/envelope/') ? '1.1' : undefined;
}
