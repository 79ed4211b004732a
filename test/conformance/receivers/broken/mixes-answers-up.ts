import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Keeps the message in a field that all requests share, so that a Receipt may name another message. */
export class MixesAnswersUp extends GoodReceiver {
  #latest: Incoming | undefined;

  override async deliver(incoming: Incoming): Promise<void> {
    this.#latest = incoming;
    await super.deliver(incoming);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  override receipt(incoming: Incoming): Reply {
    return super.receipt(this.#latest ?? incoming);
  }
}
