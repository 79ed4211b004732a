import { GoodReceiver } from '../good.js';
import type { Entry } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Looks at MessageId alone and replays one sender's Receipt to another. */
export class LeaksReceipts extends GoodReceiver {
  override keyOf(incoming: Incoming): string {
    return incoming.messageId;
  }

  override mismatch(_incoming: Incoming, standing: Entry): Reply {
    return standing.reply as Reply;
  }
}
