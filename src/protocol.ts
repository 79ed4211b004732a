import type { HeaderList } from './exchange.js';
import type { Limits } from './limits.js';
import type { Fingerprint, Message } from './message.js';

/**
 * A protocol adapter reads a request while it arrives. `push` is called with each chunk as it comes on the wire (an
 * adapter undoes a gzip Content-Encoding for itself), `end` once after the last; both throw As4OnceError to refuse.
 */
export interface Protocol {
  readonly name: string;
  open(head: { readonly headers: HeaderList; readonly target: string }, limits: Limits): Reading;
}

export interface Reading {
  push(chunk: Uint8Array): void | Promise<void>;
  /** Known as soon as the part that names the message is complete; undefined until then. */
  readonly early: Early | undefined;
  end(): Promise<Read>;
  /** The message is a settled copy: nothing after the header needs to be decrypted or hashed; `end` answers from `early`. */
  skim?(): void;
  /** The exchange ended without an answer of `end`: frees what the reading kept. Idempotent. */
  abandon?(): Promise<void>;
  /** The part that names the message, as it came, once it is complete: kept as evidence where policy says so (`keepHeader`). */
  readonly root?: Uint8Array | undefined;
  /**
   * What the header says of the message as soon as it could be read, believed or not: so that the log line of a message
   * that was refused can be found by its id. Nothing else may rest on it.
   */
  readonly claimed?: Omit<Message, 'fingerprint'> | undefined;
  /** For a refusal in the sender's own language, as far as it is known by now. */
  readonly answerIn: AnswerIn;
}

export type EarlyMessage = Omit<Message, 'fingerprint'> & { readonly fingerprint: Fingerprint | undefined };
export type Early = { readonly kind: 'message'; readonly message: EarlyMessage; readonly bundled: boolean } | { readonly kind: 'pass' };
/** `content` is opaque to the walk: what the endpoint's protocol hands to its own delivery. */
export type Read =
  | { readonly kind: 'message'; readonly message: Message; readonly bundled: boolean; readonly content?: unknown }
  | { readonly kind: 'pass' };

export interface AnswerIn {
  readonly protocol: string;
  readonly soap?: '1.1' | '1.2';
  readonly messageId?: string;
}
