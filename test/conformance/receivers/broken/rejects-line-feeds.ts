import { GoodReceiver } from '../good.js';
import { Refusal } from '../incoming.js';
import type { Incoming } from '../incoming.js';

/** Reads MIME only with CRLF. */
export class RejectsLineFeeds extends GoodReceiver {
  override read(body: Buffer, contentType: string): Incoming {
    if (/^--[^\r\n]+\n/.test(body.subarray(0, 200).toString('latin1'))) throw new Refusal('EBMS:0007', 'no CRLF');
    return super.read(body, contentType);
  }
}
