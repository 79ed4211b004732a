import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Eliminates, but signs a new Receipt for each copy (Holodeck B2B). */
export class MakesNewReceipts extends GoodReceiver {
  override replay(incoming: Incoming, _reply: Reply): Reply {
    return this.receipt(incoming);
  }
}
