import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';

/** Gives test messages to the consumer. */
export class DeliversPings extends GoodReceiver {
  override async deliver(incoming: Incoming): Promise<void> {
    await this.post(Buffer.concat(incoming.payloads.map(({ content }) => content)));
  }
}
