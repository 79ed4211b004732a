import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Sends a Receipt although the backend refused. */
export class ReceiptsBeforeDelivery extends GoodReceiver {
  override failed(incoming: Incoming, _error: unknown): Reply {
    return this.receipt(incoming);
  }
}
