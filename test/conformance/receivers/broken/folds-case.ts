import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';

/** Compares MessageIds without case. */
export class FoldsCase extends GoodReceiver {
  override keyOf(incoming: Incoming): string {
    return super.keyOf({ ...incoming, messageId: incoming.messageId.toLowerCase() });
  }
}
