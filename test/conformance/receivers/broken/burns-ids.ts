import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import { errorReply } from '../outgoing.js';
import type { Reply } from '../outgoing.js';

/** Keeps the id of a message whose delivery failed, and refuses its retry (phase4). */
export class BurnsIds extends GoodReceiver {
  override forget(key: string): void {
    this.burnt.add(key);
    super.forget(key);
  }

  readonly burnt = new Set<string>();

  override async first(incoming: Incoming, key: string): Promise<Reply> {
    if (!this.burnt.has(key)) return await super.first(incoming, key);
    return errorReply(incoming.soap, 'EBMS:0004', incoming.messageId, 'already handled', this.options.identity);
  }
}
