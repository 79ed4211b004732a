import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Changes the Receipt after it was signed, as a proxy that reformats does. */
export class TampersReceipts extends GoodReceiver {
  override receipt(incoming: Incoming): Reply {
    const reply = super.receipt(incoming);
    return {
      ...reply,
      body: Buffer.from(reply.body.toString('utf8').replace('</eb:MessageId>', '</eb:MessageId><eb:Note/>')),
    };
  }
}
