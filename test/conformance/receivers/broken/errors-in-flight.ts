import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import { errorReply } from '../outgoing.js';
import type { Reply } from '../outgoing.js';

/** Answers a copy in flight at once with an Error of severity failure (phase4). */
export class ErrorsInFlight extends GoodReceiver {
  override async once(incoming: Incoming): Promise<Reply> {
    const standing = this.store.get(this.keyOf(incoming));
    if (standing === undefined || standing.reply !== undefined) return await super.once(incoming);
    return errorReply(incoming.soap, 'EBMS:4001', incoming.messageId, 'in work', this.options.identity);
  }
}
