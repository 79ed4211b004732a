import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Sends unsigned Receipts. */
export class DoesNotSign extends GoodReceiver {
  override receipt(incoming: Incoming): Reply {
    const reply = super.receipt(incoming);
    return {
      ...reply,
      body: Buffer.from(reply.body.toString('utf8').replace(/<wsse:Security [^]*<\/wsse:Security>/, '')),
    };
  }
}
