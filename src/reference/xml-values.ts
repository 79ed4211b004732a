import { XmlStream, type XmlEvents, type XmlTag } from '../edi/sbdh-stream.js';
import { As4OnceError } from '../errors.js';
import { MalformedBody } from './json-values.js';

/**
 * Reads values at given paths (`/Order/Header/Id`, `/Order/@id`; local names, prefixes ignored) out of an XML document
 * of any size while it arrives. A path that fits two elements is refused: REFERENCE_MISSING.
 */
export class XmlValues implements XmlEvents {
  readonly #paths: readonly string[];
  readonly #stream: XmlStream;
  readonly #found = new Map<string, string>();
  readonly #names: string[] = [];
  #asked = '';

  constructor(paths: readonly string[], depth: number) {
    this.#paths = paths;
    this.#stream = new XmlStream(this, depth);
  }

  push(bytes: Uint8Array): void {
    this.#guard(() => this.#stream.push(bytes));
  }

  end(): (path: string) => string | undefined {
    this.#guard(() => this.#stream.end());
    return (path) => {
      const found = this.#found.get(path);
      return found === '' ? undefined : found;
    };
  }

  open(tag: XmlTag, depth: number): boolean {
    this.#names.length = depth - 1;
    this.#names.push(tag.local);
    const here = `/${this.#names.join('/')}`;
    for (const path of this.#paths) {
      const at = path.lastIndexOf('/@');
      if (at === -1 || path.slice(0, at) !== here) continue;
      const value = tag.attribute(path.slice(at + 2));
      if (value !== undefined) this.#keep(path, value);
    }
    if (!this.#paths.includes(here)) return false;
    this.#asked = here;
    return true;
  }

  closed(text: string): void {
    this.#keep(this.#asked, text.trim());
  }

  left(): void {
    // only elements that were asked for matter
  }

  #keep(path: string, value: string): void {
    if (this.#found.has(path)) throw new As4OnceError('REFERENCE_MISSING', `${path} stands in the body twice`);
    this.#found.set(path, value);
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof As4OnceError && error.code === 'SBDH_BROKEN') {
        throw new MalformedBody(`the body is not XML: ${error.detail}`);
      }
      throw error;
    }
  }
}
