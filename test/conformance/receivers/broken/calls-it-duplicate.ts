import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import { errorReply } from '../outgoing.js';
import type { Reply } from '../outgoing.js';

/** Eliminates, and answers each copy with an Error of severity failure (phase4). */
export class CallsItDuplicate extends GoodReceiver {
  override replay(incoming: Incoming, _reply: Reply): Reply {
    return errorReply(incoming.soap, 'EBMS:4001', incoming.messageId, 'duplicate', this.options.identity);
  }
}
