import { GoodReceiver } from '../good.js';
import type { Entry } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Takes other content under a known id for a copy and signs a Receipt over it, without delivering (Holodeck B2B). */
export class ReceiptsAlteredContent extends GoodReceiver {
  override mismatch(incoming: Incoming, _standing: Entry): Reply {
    return this.receipt(incoming);
  }
}
