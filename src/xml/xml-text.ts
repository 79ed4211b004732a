/** Bytes that may hold the XML declaration. */
const DECLARATION = 256;
const ENCODING = /^(?:\u00ef\u00bb\u00bf)?<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,39})["']/;

/**
 * Turns the bytes of an XML document of any size into text while they arrive; wrong bytes are refused, never replaced: an
 * Error says of which encoding they are not.
 */
export class XmlText {
  readonly #charset: string | undefined;
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  #head: Buffer | undefined = Buffer.alloc(0);

  /** `charset` of the media type: counts where the document itself says nothing. */
  constructor(charset?: string) {
    this.#charset = charset;
  }

  /** Text of this chunk, '' while the encoding is not known yet. */
  push(chunk: Uint8Array): string {
    if (this.#head === undefined) return this.#decode(chunk, true);
    this.#head = Buffer.concat([this.#head, chunk]);
    if (this.#head.length < DECLARATION && !this.#head.includes('?>')) return '';
    return this.#begin();
  }

  end(): string {
    return (this.#head === undefined ? '' : this.#begin()) + this.#decode(new Uint8Array(), false);
  }

  #begin(): string {
    const head = this.#head ?? Buffer.alloc(0);
    this.#head = undefined;
    const label = encodingOf(head, this.#charset);
    try {
      this.#decoder = new TextDecoder(label, { fatal: true });
    } catch {
      throw new Error(`the encoding '${label}' is not supported`);
    }
    return this.#decode(head, true);
  }

  #decode(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder?.decode(bytes, { stream }) ?? '';
    } catch {
      throw new Error(`the bytes are not ${this.#decoder?.encoding ?? 'text'}`);
    }
  }
}

/** By byte order mark or first bytes (XML 1.0 appendix F), else as declared, else `charset`, else UTF-8. */
function encodingOf(head: Buffer, charset = 'utf-8'): string {
  const [a, b] = head;
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c)) return 'utf-16be';
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0)) return 'utf-16le';
  const declared = ENCODING.exec(head.toString('latin1'))?.[1]?.toLowerCase() ?? charset;
  // bytes that begin `<?xml` cannot be UTF-16, whatever they say
  return declared.startsWith('utf-16') ? 'utf-8' : declared;
}
