import { As4OnceError } from '../errors.js';
import type { DocumentKey, Message } from '../message.js';
import type { AnswerIn, Early, Protocol, Read, Reading } from '../protocol.js';
import type { Rule } from '../policy/rule.js';
import type { DecryptionKey } from '../security/decrypt.js';
import { inboundProtocol } from '../security/inbound.js';
import type { InboundContent } from '../security/open-message.js';
import type { PayloadSink } from '../security/payload.js';
import { pmodeFor, type Agreed } from './pmode.js';
import { StudyingSink, type StudiedBody } from './study.js';

export interface EndpointProtocolOptions {
  readonly agreed: Agreed;
  readonly keys: readonly DecryptionKey[];
  /**
   * Resolves when what signs Receipts was seen to sign one that others can verify. Asked before a message is made of what
   * came in, so that no id is claimed that nobody could acknowledge. Rejects with SIGNER_UNFIT.
   */
  readonly proven: Promise<void>;
  /** A sink of the spool for each payload. */
  openPayload(): PayloadSink;
  /** Wall clock, epoch ms. */
  now(): number;
  /** Most bytes of one decompressed payload. */
  readonly maxPayload: number;
  /** Some partner's rule asks for business keys (`payloadKeys`), so that payloads are read for them. */
  readonly business: boolean;
}

/**
 * AS4 as the endpoint takes it in: verified, decrypted and proven (security/inbound.ts), then asked what business
 * document it carries. What comes out of `end` is what may be delivered.
 */
export function endpointProtocol(options: EndpointProtocolOptions): Protocol {
  const { agreed, keys, proven, openPayload, maxPayload, business } = options;
  const inbound = inboundProtocol({
    keys, maxPayload,
    now: () => options.now(),
    pmodeOf: (user) => pmodeFor(agreed, user),
    openPayload: () => new StudyingSink(openPayload(), business),
  });
  return { name: 'as4', open: (head, limits) => new EndpointReading(inbound.open(head, limits), agreed, proven) };
}

class EndpointReading implements Reading {
  readonly #inner: Reading;
  readonly #agreed: Agreed;
  readonly #proven: Promise<void>;

  constructor(inner: Reading, agreed: Agreed, proven: Promise<void>) {
    this.#inner = inner;
    this.#agreed = agreed;
    this.#proven = proven;
  }

  get early(): Early | undefined {
    return this.#inner.early;
  }

  get claimed(): Reading['claimed'] {
    return this.#inner.claimed;
  }

  get root(): Uint8Array | undefined {
    return this.#inner.root;
  }

  get answerIn(): AnswerIn {
    return this.#inner.answerIn;
  }

  push(chunk: Uint8Array): void | Promise<void> {
    return this.#inner.push(chunk);
  }

  skim(): void {
    this.#inner.skim?.();
  }

  async end(): Promise<Read> {
    await this.#proven;
    const read = await this.#inner.end();
    if (read.kind === 'pass' || read.content === undefined) return read;
    try {
      const rule = this.#agreed.select(read.message);
      const content = read.content as InboundContent;
      const documents = [...documentsOf(content, read.message, rule), ...businessOf(content, read.message, rule)];
      return documents.length === 0 ? read : { ...read, message: { ...read.message, documents } };
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  async abandon(): Promise<void> {
    await this.#inner.abandon?.();
  }
}

/** The Standard Business Documents of a message, by what their headers call them. Throws VALUE_INCONSISTENT. */
function documentsOf({ payloads }: InboundContent, { facts }: Message, { sbdh: policy, payloadKeys = [] }: Rule): readonly DocumentKey[] {
  if (policy === 'off' && !payloadKeys.includes('sbdh')) return [];
  return payloads.flatMap(({ body }): readonly DocumentKey[] => {
    const { sbdh } = body as StudiedBody;
    if (sbdh === undefined) return [];
    // an unreadable header is no reason to give up telling documents apart: whoever wants it delivered says sbdh: off
    if (sbdh instanceof As4OnceError) throw new As4OnceError('VALUE_INCONSISTENT', `SBDH: ${sbdh.detail}`.slice(0, 300));
    const { sender, receiver, instanceIdentifier } = sbdh;
    const named = [['sender', sender], ['receiver', receiver]] as const;
    const parties = [...facts.from, ...named.map(([role, { authority, value }]) => ({ value, type: `${role} ${authority ?? ''}` }))];
    return [{ kind: 'sbdh', reference: instanceIdentifier, parties }];
  });
}

/** The business keys that the partner's rule asks for; the sender of the message counts too, as for every second key. */
function businessOf({ payloads }: InboundContent, { facts }: Message, { payloadKeys = [] }: Rule): readonly DocumentKey[] {
  return payloads.flatMap(({ body }) => (body as StudiedBody).business ?? [])
    .filter(({ kind }) => payloadKeys.includes(kind))
    .map(({ kind, reference, parties }) => ({ kind: 'business', reference: `${kind} ${reference}`, parties: [...facts.from, ...parties] }));
}
