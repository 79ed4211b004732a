import type { StoredBody } from '../delivery/port.js';
import type { InboundContent } from '../security/open-message.js';

/** The payloads of a message as the body that the walk owns: freed with it, whatever becomes of the exchange. */
export function contentBody(content: unknown): StoredBody {
  if (content === undefined) return { length: 0, stream: nothing, dispose: async () => undefined };
  const { payloads, dispose } = content as InboundContent;
  return {
    length: payloads.reduce((sum, { body }) => sum + body.length, 0),
    stream: async function* all() {
      for (const { body } of payloads) yield* body.stream();
    },
    dispose,
  };
}

// eslint-disable-next-line require-yield
async function* nothing(): AsyncGenerator<Uint8Array> {
  // a signal has no payload
}
