import { Base64Text } from '../edi/base64-text.js';
import type { Interchange } from '../edi/interchange.js';
import { messageOf } from '../edi/message-of.js';
import { InterchangeReader } from '../edi/reader.js';
import { SBDH } from '../edi/sbdh.js';
import { XmlStream, type XmlEvents, type XmlTag } from '../edi/sbdh-stream.js';
import { LIMITS } from '../limits.js';
import type { BusinessKey, KeyReader } from './business-keys.js';

/** Interchanges of one payload that are claimed; the ledger is asked for each. */
const MOST = 20;
/** Namespace of BinaryContent and TextContent (Peppol Business Message Envelope, payloads that are no XML). */
const PEPPOL_CONTENT = 'http://peppol.eu/xsd/ticc/envelope/1.0';

/** Control reference and parties of the interchanges that a payload is. Throws EDI_BROKEN for what is none. */
export class InterchangeKeys implements KeyReader {
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
    const test = { value: extra['test'] ?? '', type: 'test indicator' };
    this.#found.push({ kind: one.syntax, reference, parties: [...facts.from, ...facts.to, test] });
  }
}

/**
 * The same for interchanges that are the content of the first element behind an SBDH, while it arrives: Base64 in
 * Peppol's BinaryContent, text in any other. Throws EDI_BROKEN or SBDH_BROKEN for what is none.
 */
export class WrappedInterchangeKeys implements KeyReader, XmlEvents {
  readonly #xml = new XmlStream(this, LIMITS.depth);
  readonly #keys = new InterchangeKeys();
  #base64: Base64Text | undefined;
  #found: readonly BusinessKey[] = [];
  #seen = false;
  #elsewhere = false;

  /** The payload is no Standard Business Document. Otherwise it is read to its end, since it may break off. */
  get done(): boolean {
    return this.#elsewhere;
  }

  push(chunk: Uint8Array): void {
    this.#xml.push(chunk);
  }

  end(): readonly BusinessKey[] {
    if (!this.#elsewhere) this.#xml.end();
    return this.#found;
  }

  open({ local, uri }: XmlTag, depth: number): false | 'pieces' {
    if (depth === 1 && (local !== 'StandardBusinessDocument' || uri !== SBDH)) this.#elsewhere = true;
    if (this.#elsewhere || this.#seen || depth !== 2) return false;
    if (local === 'StandardBusinessDocumentHeader' && uri === SBDH) return false;
    this.#seen = true;
    if (local === 'BinaryContent' && uri === PEPPOL_CONTENT) this.#base64 = new Base64Text();
    return 'pieces';
  }

  piece(text: string): void {
    this.#keys.push(this.#base64?.push(text) ?? Buffer.from(text));
  }

  closed(): void {
    this.#base64?.end();
    this.#found = this.#keys.end();
  }

  left(): void {
    // what is not asked for, such as the header, says nothing about interchanges
  }
}
