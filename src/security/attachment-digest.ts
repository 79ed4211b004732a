import { createHash, timingSafeEqual, type Hash } from 'node:crypto';
import { SaxesParser } from 'saxes';
import { CanonicalWriter } from '../xml/canonical.js';
import { XmlText } from '../xml/xml-text.js';
import type { XmlAttribute } from '../xml/tree.js';
import type { HashName } from './algorithms.js';

/** What an attachment's signed reference demands (SwA Profile 1.1, 5.4). */
export interface AttachmentReference {
  /** Content-ID without `cid:`, angle brackets and percent coding. */
  readonly contentId: string;
  readonly uri: string;
  readonly transform: 'attachmentContent' | 'attachmentComplete';
  readonly digestMethod: string;
  readonly hash: HashName;
  readonly digest: Uint8Array;
}

/** XML attachments up to this many bytes are also digested in canonical form; larger ones as octets only. */
const MAX_CANONICAL = 64 * 1024 * 1024;
const MAX_DEPTH = 256;

/**
 * Digests one decoded, decrypted attachment while it streams by and says at its end whether it is what was signed.
 *
 * The profile digests XML in canonical form and other text with CRLF line ends, but products differ (some sign the
 * octets whatever the type), so the octets are right as well: every form binds the content. `mediaType` is the part's,
 * or EncryptedData/@MimeType for a part that was encrypted. `before` are the canonical MIME headers of the complete
 * transform.
 */
export class AttachmentDigest {
  readonly #wanted: Uint8Array;
  readonly #octets: Hash;
  readonly #other: Canonical | CrLf | undefined;

  constructor(reference: AttachmentReference, mediaType: string, before: string = '') {
    this.#wanted = reference.digest;
    this.#octets = createHash(reference.hash).update(before);
    const form = formOf(mediaType);
    if (form === 'xml') this.#other = new Canonical(createHash(reference.hash).update(before), /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(mediaType)?.[1]);
    else if (form === 'text') this.#other = new CrLf(createHash(reference.hash).update(before));
  }

  update(chunk: Uint8Array): void {
    this.#octets.update(chunk);
    this.#other?.update(chunk);
  }

  /** Ends the digest; call it once. */
  matches(): boolean {
    const other = this.#other?.end();
    return equal(this.#octets.digest(), this.#wanted) || (other !== undefined && equal(other, this.#wanted));
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function formOf(mediaType: string): 'xml' | 'text' | 'octets' {
  const type = (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (/^(text|application)\/xml$/.test(type) || /^(application|image)\/[^/]+\+xml$/.test(type)) return 'xml';
  return type.startsWith('text/') ? 'text' : 'octets';
}

/** Line ends as CRLF: a lone CR or LF becomes one (SwA Profile 1.1, 5.4.2). */
class CrLf {
  readonly #hash: Hash;
  #afterCr = false;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  update(chunk: Uint8Array): void {
    let text = Buffer.from(chunk).toString('latin1');
    if (this.#afterCr && text.startsWith('\n')) text = text.slice(1);
    this.#afterCr = chunk.length === 0 ? this.#afterCr : text.endsWith('\r');
    this.#hash.update(text.replace(/\r\n|\r|\n/g, '\r\n'), 'latin1');
  }

  end(): Uint8Array {
    return this.#hash.digest();
  }
}

/** Exclusive canonical form of a whole document, written while it is parsed, so that memory is bounded by its depth. */
class Canonical {
  readonly #hash: Hash;
  readonly #writer = new CanonicalWriter();
  readonly #decoder: XmlText;
  readonly #parser = new SaxesParser({ xmlns: true });
  #given = 0;
  #depth = 0;
  #rootSeen = false;
  /** Set where the attachment has no canonical form here: broken, with a DOCTYPE, too deep, too large. */
  #without = false;

  constructor(hash: Hash, charset: string | undefined) {
    this.#hash = hash;
    this.#decoder = new XmlText(charset);
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('doctype', () => {
      throw new Error('DOCTYPE');
    });
    parser.on('opentag', (tag) => {
      if (++this.#depth > MAX_DEPTH) throw new Error('too deep');
      const attributes: XmlAttribute[] = [];
      for (const a of Object.values(tag.attributes)) {
        if (a.prefix !== 'xmlns' && a.name !== 'xmlns') {
          attributes.push({ name: a.name, prefix: a.prefix, local: a.local, uri: a.uri, value: a.value });
        }
      }
      this.#writer.open({ name: tag.name, prefix: tag.prefix, uri: tag.uri, attributes, declarations: [] });
      this.#rootSeen = true;
    });
    parser.on('closetag', (tag) => {
      this.#depth--;
      this.#writer.close(tag.name);
    });
    parser.on('text', (value) => {
      if (this.#depth > 0) this.#writer.text(value);
    });
    parser.on('cdata', (value) => this.#writer.text(value));
    parser.on('processinginstruction', ({ target, body }) => {
      if (this.#depth === 0 && this.#rootSeen) this.#writer.lineFeed();
      this.#writer.instruction(target, body);
      if (this.#depth === 0 && !this.#rootSeen) this.#writer.lineFeed();
    });
  }

  update(chunk: Uint8Array): void {
    this.#given += chunk.length;
    this.#attempt(() => this.#parser.write(this.#decoder.push(chunk)));
  }

  end(): Uint8Array | undefined {
    this.#attempt(() => this.#parser.write(this.#decoder.end()).close());
    return this.#without ? undefined : this.#hash.digest();
  }

  #attempt(step: () => void): void {
    if (this.#without || this.#given > MAX_CANONICAL) {
      this.#without = true;
      return;
    }
    try {
      step();
      this.#hash.update(this.#writer.take());
    } catch {
      this.#without = true;
    }
  }
}
