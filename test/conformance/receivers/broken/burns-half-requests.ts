import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Takes the id as soon as the envelope is there, and keeps it when the transfer breaks (Holodeck B2B). */
export class BurnsHalfRequests extends GoodReceiver {
  readonly #taken = new Set<string>();

  override broken(soFar: Buffer): void {
    const text = soFar.toString('latin1');
    const id = /<eb:MessageId>([^<]*)</.exec(text)?.[1];
    if (text.includes('</S12:Envelope>') && id !== undefined) this.#taken.add(id);
  }

  override async once(incoming: Incoming): Promise<Reply> {
    return this.#taken.has(incoming.messageId)
      ? { status: 202, contentType: 'text/plain', body: Buffer.alloc(0) }
      : await super.once(incoming);
  }
}
