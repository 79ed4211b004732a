import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Delivers whatever comes while its store is down. */
export class OpensWithoutStore extends GoodReceiver {
  override async once(incoming: Incoming): Promise<Reply> {
    if (this.storeUp) return await super.once(incoming);
    return await this.first(incoming, `${this.keyOf(incoming)} unknown`);
  }

  override reachable(): boolean {
    return true;
  }
}
