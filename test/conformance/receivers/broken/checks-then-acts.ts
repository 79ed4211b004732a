import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Asks whether the id is known, and writes it down later (Holodeck B2B). */
export class ChecksThenActs extends GoodReceiver {
  override async once(incoming: Incoming): Promise<Reply> {
    const known = this.store.has(this.keyOf(incoming));
    await new Promise((resolve) => setTimeout(resolve, 60));
    return known ? await super.once(incoming) : await this.first(incoming, this.keyOf(incoming));
  }
}
