import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import { errorReply } from '../outgoing.js';
import type { Reply } from '../outgoing.js';

/** Takes a failed write for a known id, so that a first copy is refused undelivered (phoss-ap). */
export class TakesOutageForDuplicate extends GoodReceiver {
  override async once(incoming: Incoming): Promise<Reply> {
    if (this.storeUp) return await super.once(incoming);
    return errorReply(incoming.soap, 'EBMS:0004', incoming.messageId, 'duplicate', this.options.identity);
  }

  override reachable(): boolean {
    return true;
  }
}
