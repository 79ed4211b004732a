import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import { receiptReply } from '../outgoing.js';
import type { Reply } from '../outgoing.js';

/** Gives every Receipt the same MessageId. */
export class RepeatsReceiptIds extends GoodReceiver {
  override receipt(incoming: Incoming): Reply {
    return receiptReply(incoming, this.options.identity, 'receipt@receiver.test');
  }
}
