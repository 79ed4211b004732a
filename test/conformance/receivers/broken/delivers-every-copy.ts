import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Knows nothing of duplicates (Oxalis-NG). */
export class DeliversEveryCopy extends GoodReceiver {
  override async once(incoming: Incoming): Promise<Reply> {
    return await this.first(incoming, `${this.keyOf(incoming)} ${Math.random()}`);
  }
}
