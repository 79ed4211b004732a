import type { Interchange } from '../edi/interchange.js';
import { messageOf } from '../edi/message-of.js';
import { InterchangeReader } from '../edi/reader.js';
import { As4OnceError } from '../errors.js';
import type { Party } from '../message.js';
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
/** Interchanges of one payload that are claimed; the ledger is asked for each. */
const MOST = 20;

interface Reader {
  push(chunk: Uint8Array): void;
  /** Nothing more is to be learnt. */
  readonly done: boolean;
  end(): readonly BusinessKey[];
}

/**
 * Reads the business key of a payload while it is written: EDIFACT and X12 by their envelopes, UBL by number and sender.
 * A payload that cannot be read has none; whether it is any good is for the application to say. Never throws.
 */
export class BusinessKeyReader {
  #head: Buffer | undefined = Buffer.alloc(0);
  #reader: Reader | undefined;

  push(chunk: Uint8Array): void {
    if (this.#head === undefined) this.#feed(chunk);
    else {
      this.#head = Buffer.concat([this.#head, chunk]);
      if (this.#head.length >= HEAD) this.#begin(this.#head);
    }
  }

  end(): readonly BusinessKey[] {
    if (this.#head !== undefined) this.#begin(this.#head);
    let found: readonly BusinessKey[] = [];
    this.#quietly(() => {
      found = this.#reader?.end() ?? [];
    });
    return found;
  }

  #begin(head: Buffer): void {
    this.#head = undefined;
    const text = head.subarray(0, HEAD).toString('latin1').replace(/^\xef\xbb\xbf/, '').trimStart();
    if (/^(UNA|UNB|ISA)/.test(text)) this.#reader = new Interchanges();
    else if (text.includes('<')) this.#reader = new UblReader();
    this.#feed(head);
  }

  #feed(chunk: Uint8Array): void {
    if (this.#reader === undefined || this.#reader.done) return;
    this.#quietly(() => this.#reader?.push(chunk));
  }

  #quietly(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof As4OnceError)) throw error;
      this.#reader = undefined;
    }
  }
}

class Interchanges implements Reader {
  readonly done = false;
  readonly #found: BusinessKey[] = [];
  readonly #reader = new InterchangeReader({ digest: false, onInterchange: (one) => this.#add(one) });

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk);
  }

  end(): readonly BusinessKey[] {
    this.#reader.end();
    return this.#found;
  }

  #add(one: Interchange): void {
    if (this.#found.length >= MOST) return;
    const { reference, facts, extra = {} } = messageOf(one);
    const test = extra['test'] ?? '';
    this.#found.push({ kind: one.syntax, reference, parties: [...facts.from, ...facts.to, { value: test, type: 'test indicator' }] });
  }
}
