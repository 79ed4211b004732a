import { As4OnceError } from '../errors.js';

const DIGITS = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes xs:base64Binary (XML Schema part 2, 3.2.16) while it arrives. Wrong text is SBDH_BROKEN, never skipped. */
export class Base64Text {
  /** Fewer than four characters, which are no whole byte group yet. */
  #rest = '';
  #padded = false;

  push(text: string): Buffer {
    const digits = this.#rest + text.replace(/[ \t\r\n]+/g, '');
    const whole = digits.slice(0, digits.length - (digits.length % 4));
    this.#rest = digits.slice(whole.length);
    if (whole === '') return Buffer.alloc(0);
    if (this.#padded || !DIGITS.test(whole)) throw new As4OnceError('SBDH_BROKEN', 'content that is no Base64');
    this.#padded = whole.endsWith('=');
    return Buffer.from(whole, 'base64');
  }

  /** The text has ended: throws where that is within a group. */
  end(): void {
    if (this.#rest !== '') throw new As4OnceError('SBDH_BROKEN', 'Base64 that ends too early');
  }
}
