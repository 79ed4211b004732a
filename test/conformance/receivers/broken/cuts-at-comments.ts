import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';

/** Reads a MessageId up to the first comment in it. */
export class CutsAtComments extends GoodReceiver {
  override read(body: Buffer, contentType: string): Incoming {
    const incoming = super.read(body, contentType);
    const cut = /<eb:MessageId>([^<]*)<!--/.exec(body.toString('latin1'))?.[1];
    return cut === undefined ? incoming : { ...incoming, messageId: cut };
  }
}
