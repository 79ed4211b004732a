import { As4OnceError } from '../errors.js';
import type { Party } from '../message.js';
import { InterchangeKeys, WrappedInterchangeKeys } from './interchange-keys.js';
import { UblReader } from './ubl-key.js';

/** What names a payload in its own world, whatever message carries it. */
export interface BusinessKey {
  readonly kind: 'edifact' | 'x12' | 'ubl';
  /** Interchange reference, ISA13, or root and number of a UBL document. */
  readonly reference: string;
  /** Between whom: the parties of the interchange, the sender of the document. */
  readonly parties: readonly Party[];
}

/** Bytes that tell what a payload is. */
const HEAD = 16;

/** Looks for one kind of key. Throws As4OnceError where there is none, after which it is of no use. */
export interface KeyReader {
  push(chunk: Uint8Array): void;
  /** Nothing more is to be learnt. */
  readonly done: boolean;
  end(): readonly BusinessKey[];
}

/**
 * Reads the business key of a payload while it is written: EDIFACT and X12 by their envelopes, bare or
 * wrapped in a Standard Business Document; UBL by number and sender. A payload that cannot be read has none; whether
 * it is any good is for the application to say. Never throws.
 */
export class BusinessKeyReader {
  #head: Buffer | undefined = Buffer.alloc(0);
  #readers: readonly KeyReader[] = [];

  push(chunk: Uint8Array): void {
    if (this.#head === undefined) this.#feed(chunk);
    else {
      this.#head = Buffer.concat([this.#head, chunk]);
      if (this.#head.length >= HEAD) this.#begin(this.#head);
    }
  }

  end(): readonly BusinessKey[] {
    if (this.#head !== undefined) this.#begin(this.#head);
    return this.#readers.flatMap((reader) => quietly(() => reader.end()) ?? []);
  }

  #begin(head: Buffer): void {
    this.#head = undefined;
    const text = head.subarray(0, HEAD).toString('latin1').replace(/^\xef\xbb\xbf/, '').trimStart();
    if (/^(UNA|UNB|ISA)/.test(text)) this.#readers = [new InterchangeKeys()];
    else if (text.includes('<')) this.#readers = [new UblReader(), new WrappedInterchangeKeys()];
    this.#feed(head);
  }

  /** A reader that fails is dropped; what the others look for may be there all the same. */
  #feed(chunk: Uint8Array): void {
    this.#readers = this.#readers.filter((reader) => quietly(() => {
      if (!reader.done) reader.push(chunk);
      return true;
    }));
  }
}

function quietly<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof As4OnceError)) throw error;
    return undefined;
  }
}
