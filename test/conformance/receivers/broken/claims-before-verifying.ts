import { GoodReceiver } from '../good.js';
import { Refusal } from '../incoming.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Takes the id before it has verified the signature (AS4.NET, Holodeck B2B). */
export class ClaimsBeforeVerifying extends GoodReceiver {
  readonly #taken = new Set<string>();

  override read(body: Buffer, contentType: string): Incoming {
    try {
      return super.read(body, contentType);
    } catch (error) {
      if (error instanceof Refusal && error.messageId !== undefined && ['EBMS:0101', 'EBMS:0103'].includes(error.code))
        this.#taken.add(error.messageId);
      throw error;
    }
  }

  override async once(incoming: Incoming): Promise<Reply> {
    return this.#taken.has(incoming.messageId)
      ? { status: 202, contentType: 'text/plain', body: Buffer.alloc(0) }
      : await super.once(incoming);
  }
}
