import type { Backend, Handed, Metadata, PayloadMetadata } from '../endpoint/backend.js';
import { As4OnceError } from '../errors.js';

/** A payload as a function gets it. It can be read as long as the function runs, and more than once. */
export interface ReceivedPayload extends PayloadMetadata {
  stream(): AsyncIterable<Uint8Array>;
  /** The whole payload in memory. */
  bytes(): Promise<Buffer>;
}

export interface ReceivedMessage extends Omit<Metadata, 'payloads'> {
  readonly payloads: readonly ReceivedPayload[];
  /** The same for every attempt at this message: what was done for it once need not be done again. */
  readonly idempotencyKey: string;
}

/**
 * Takes a message on behalf of the application. Resolving accepts it, and its sender gets the Receipt. Throwing
 * As4OnceError('DELIVERY_FAILED') refuses it for certain; any other failure leaves open what was done, so the message is
 * held for an operator, unless policy says `uncertain: redeliver`. `signal` aborts at times.patience.
 */
export type MessageHandler = (message: ReceivedMessage, context: { readonly signal: AbortSignal }) => void | Promise<void>;

/** A function of the embedding application. Nothing is known of its memory, so it counts as not idempotent. */
export function handlerBackend(handler: MessageHandler): Backend {
  return {
    idempotent: false,
    hand: async ({ metadata, payloads, idempotencyKey, signal }) => {
      const received: ReceivedMessage = {
        ...metadata,
        idempotencyKey: idempotencyKey.slice(1, -1),
        payloads: metadata.payloads.map((one, i): ReceivedPayload => {
          const stream = (): AsyncIterable<Uint8Array> => payloads[i]?.body.stream() ?? none();
          return { ...one, stream, bytes: async () => await gathered(stream()) };
        }),
      };
      let over = (): void => undefined;
      const patience = new Promise<Handed>((resolve) => {
        over = () => resolve({ kind: 'uncertain', detail: 'times.patience was over' });
        signal.addEventListener('abort', over, { once: true });
      });
      try {
        return await Promise.race([run(handler, received, signal), patience]);
      } finally {
        signal.removeEventListener('abort', over);
      }
    },
    close: async () => undefined,
  };
}

async function run(handler: MessageHandler, message: ReceivedMessage, signal: AbortSignal): Promise<Handed> {
  try {
    await handler(message, { signal });
    return { kind: 'accepted' };
  } catch (error) {
    const refused = error instanceof As4OnceError && error.code === 'DELIVERY_FAILED';
    const detail = error instanceof Error ? error.message : String(error);
    return refused ? { kind: 'rejected', detail: error.detail } : { kind: 'uncertain', detail: detail.slice(0, 300) };
  }
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function* none(): AsyncGenerator<Uint8Array> {
  // more metadata than payloads cannot be
}
