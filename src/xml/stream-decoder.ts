/** How far an XML declaration may reach, bytes; what has not named its encoding by then does not. */
const LOOK = 256;
const DECLARATION = /^<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,39})["']/;

/**
 * Characters of an XML document of any size, decoded while it streams by: by its byte order mark, its first bytes or its
 * declaration (XML 1.0, appendix F), else by the media type's charset, else as UTF-8. Throws TypeError for bytes that
 * are not of that encoding, RangeError for an encoding that is not known here.
 */
export class StreamDecoder {
  readonly #charset: string | undefined;
  /** The first bytes, until they tell. */
  #head: Buffer | undefined = Buffer.alloc(0);
  #decoder: InstanceType<typeof TextDecoder> | undefined;

  constructor(charset?: string) {
    this.#charset = charset;
  }

  decode(chunk: Uint8Array): string {
    if (this.#decoder !== undefined) return this.#decoder.decode(chunk, { stream: true });
    const head = Buffer.concat([this.#head ?? Buffer.alloc(0), chunk]);
    this.#head = head;
    return head.length < LOOK && head.indexOf('>') < 0 ? '' : this.#begin(head);
  }

  /** What is left; throws where the document ends within a character. */
  end(): string {
    const rest = this.#decoder === undefined ? this.#begin(this.#head ?? Buffer.alloc(0)) : '';
    return rest + (this.#decoder?.decode() ?? '');
  }

  #begin(head: Buffer): string {
    this.#head = undefined;
    this.#decoder = new TextDecoder(encodingOf(head, this.#charset), { fatal: true });
    return this.#decoder.decode(head, { stream: true });
  }
}

function encodingOf(head: Buffer, charset: string | undefined): string {
  const [a, b] = head;
  if ((a === 0xfe && b === 0xff) || (a === 0x00 && b === 0x3c)) return 'utf-16be';
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0x00)) return 'utf-16le';
  if (a === 0xef && b === 0xbb) return 'utf-8';
  return DECLARATION.exec(head.toString('latin1', 0, LOOK))?.[1] ?? charset ?? 'utf-8';
}
