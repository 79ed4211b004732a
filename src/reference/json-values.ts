import { As4OnceError } from '../errors.js';

/** A value found at a path: `=` and its text (digits of a number as written); undefined: an object, an array, null. */
type Found = string | undefined;

/** Longest wanted value and longest name, characters. */
const LONGEST = 4_096;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const LITERALS = new Set(['true', 'false', 'null']);
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

type Expect = 'value' | 'valueOrEnd' | 'nameOrEnd' | 'name' | 'colon' | 'commaOrEnd' | 'nothing';

interface Frame {
  readonly array: boolean;
  /** Name of the member, or index of the item, that is being read. */
  step: string;
  index: number;
}

/**
 * Reads values at given JSON pointers (RFC 6901) out of a JSON text (RFC 8259) of any size while it arrives. Strict, and
 * with memory for the path only. A member that is there twice on the way to a wanted value is refused, because parsers
 * differ in which one they take. Throws REFERENCE_MISSING; `malformed` tells broken JSON from an ambiguous one.
 */
export class JsonValues {
  readonly #pointers: readonly (readonly string[])[];
  readonly #depthBound: number;
  readonly #deepest: number;
  readonly #found = new Map<string, Found>();
  readonly #frames: Frame[] = [];
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #expect: Expect = 'value';
  /** The token being read. */
  #token: 'none' | 'string' | 'bare' = 'none';
  #text = '';
  #keep = false;
  #isName = false;
  /** Characters of an escape sequence so far, backslash included. */
  #escape = '';
  #target: string | undefined;

  constructor(pointers: readonly string[], depth: number) {
    this.#pointers = pointers.map(stepsOf);
    this.#deepest = Math.max(0, ...this.#pointers.map((steps) => steps.length));
    this.#depthBound = depth;
  }

  push(bytes: Uint8Array): void {
    this.#read(this.#decode(bytes, true));
  }

  /** The text is over: the values by pointer, undefined where nothing usable stands there. */
  end(): (pointer: string) => string | undefined {
    this.#read(this.#decode(new Uint8Array(), false));
    if (this.#token === 'bare') this.#endBare();
    if (this.#token !== 'none' || this.#expect !== 'nothing') this.#broken('it ends too early');
    return (pointer) => {
      const found = this.#found.get(keyOf(stepsOf(pointer)));
      return found === undefined || found === '=' ? undefined : found.slice(1);
    };
  }

  #decode(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder.decode(bytes, { stream });
    } catch {
      return this.#broken('it is not UTF-8');
    }
  }

  #broken(why: string): never {
    throw new MalformedBody(`the body is not JSON: ${why}`);
  }

  #read(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const letter = text.charAt(at);
      if (this.#token === 'string') this.#inString(letter);
      else if (this.#token === 'bare' && !/[\s,\]}:"[{]/.test(letter)) this.#append(letter);
      else {
        if (this.#token === 'bare') this.#endBare();
        this.#structure(letter);
      }
    }
  }

  #structure(letter: string): void {
    if (letter === ' ' || letter === '\n' || letter === '\r' || letter === '\t') return;
    const expect = this.#expect;
    const wantsValue = expect === 'value' || expect === 'valueOrEnd';
    if (letter === '"' && (wantsValue || expect === 'name' || expect === 'nameOrEnd')) this.#beginString(!wantsValue);
    else if (letter === ':' && expect === 'colon') this.#expect = 'value';
    else if (letter === ',' && expect === 'commaOrEnd') this.#next();
    else if ((letter === '{' || letter === '[') && wantsValue) this.#openFrame(letter === '[');
    else if (letter === '}' && (expect === 'nameOrEnd' || (expect === 'commaOrEnd' && !this.#top().array))) this.#closeFrame();
    else if (letter === ']' && (expect === 'valueOrEnd' || (expect === 'commaOrEnd' && this.#top().array))) this.#closeFrame();
    else if (wantsValue && /[-\dtfn]/.test(letter)) {
      this.#target = this.#arrive();
      this.#token = 'bare';
      this.#keep = true;
      this.#text = letter;
    } else this.#broken(`unexpected ${JSON.stringify(letter)}`);
  }

  #top(): Frame {
    return this.#frames.at(-1) ?? this.#broken('unexpected end');
  }

  #next(): void {
    const frame = this.#top();
    frame.index += 1;
    frame.step = frame.array ? String(frame.index) : '';
    this.#expect = frame.array ? 'value' : 'name';
  }

  #openFrame(array: boolean): void {
    this.#arrive();
    if (this.#frames.length >= this.#depthBound) this.#broken(`deeper than ${this.#depthBound} levels`);
    this.#frames.push({ array, step: array ? '0' : '', index: 0 });
    this.#expect = array ? 'valueOrEnd' : 'nameOrEnd';
  }

  #closeFrame(): void {
    this.#frames.pop();
    this.#expect = this.#frames.length === 0 ? 'nothing' : 'commaOrEnd';
  }

  /** A value begins: its path, if it is wanted or lies on the way to a wanted one; a second one there is refused. */
  #arrive(): string | undefined {
    const depth = this.#frames.length;
    if (depth > this.#deepest) return undefined;
    const onTheWay = this.#pointers.some((steps) => steps.length >= depth && this.#frames.every((frame, level) => frame.step === steps[level]));
    if (!onTheWay) return undefined;
    const path = this.#frames.map((frame) => frame.step);
    const key = keyOf(path);
    if (this.#found.has(key)) {
      throw new As4OnceError('REFERENCE_MISSING', `/${path.join('/').slice(0, 200)} stands in the body twice`);
    }
    this.#found.set(key, undefined);
    return key;
  }

  #beginString(isName: boolean): void {
    this.#isName = isName;
    this.#target = isName ? undefined : this.#arrive();
    this.#keep = this.#target !== undefined || (isName && this.#frames.length <= this.#deepest);
    this.#token = 'string';
    this.#text = '';
  }

  #inString(letter: string): void {
    if (this.#escape !== '') this.#inEscape(letter);
    else if (letter === '\\') this.#escape = letter;
    else if (letter === '"') this.#endString();
    else if (letter < ' ') this.#broken('a control character in a string');
    else this.#append(letter);
  }

  #inEscape(letter: string): void {
    this.#escape += letter;
    if (this.#escape.length === 2) {
      if (letter === 'u') return;
      const meant = ESCAPES[letter];
      if (meant === undefined) this.#broken('an unknown escape');
      this.#escape = '';
      this.#append(meant);
      return;
    }
    if (!/[\da-fA-F]/.test(letter)) this.#broken('a broken \\u escape');
    if (this.#escape.length < 6) return;
    const meant = String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16));
    this.#escape = '';
    this.#append(meant);
  }

  #append(letter: string): void {
    if (!this.#keep) return;
    this.#text += letter;
    if (this.#text.length <= LONGEST) return;
    if (this.#token === 'bare') this.#broken('a number that is too long');
    if (this.#target !== undefined) {
      throw new As4OnceError('REFERENCE_MISSING', `the value is longer than ${LONGEST} characters`);
    }
    // a name this long is no step of any pointer, so what follows of it does not matter
    this.#keep = false;
  }

  #endString(): void {
    this.#token = 'none';
    if (this.#isName) {
      this.#top().step = this.#text;
      this.#expect = 'colon';
      return;
    }
    if (this.#target !== undefined) this.#found.set(this.#target, `=${this.#text}`);
    this.#valueEnded();
  }

  #endBare(): void {
    this.#token = 'none';
    if (!LITERALS.has(this.#text) && !NUMBER.test(this.#text)) {
      this.#broken(`unexpected ${JSON.stringify(this.#text.slice(0, 40))}`);
    }
    if (this.#target !== undefined && this.#text !== 'null') this.#found.set(this.#target, `=${this.#text}`);
    this.#valueEnded();
  }

  #valueEnded(): void {
    this.#expect = this.#frames.length === 0 ? 'nothing' : 'commaOrEnd';
  }
}

/** The body is not what the rule takes it for: no reference can be found in it. */
export class MalformedBody extends As4OnceError {
  constructor(detail: string) {
    super('REFERENCE_MISSING', detail);
  }
}

/** RFC 6901, 4. */
function stepsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}
