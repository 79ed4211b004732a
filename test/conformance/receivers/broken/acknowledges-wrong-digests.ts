import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Puts digests of its own into the Receipt. */
export class AcknowledgesWrongDigests extends GoodReceiver {
  override receipt(incoming: Incoming): Reply {
    const other = (digest: string) => Buffer.from(digest, 'base64').reverse().toString('base64');
    return super.receipt({
      ...incoming,
      references: incoming.references.map((reference) => ({ ...reference, digest: other(reference.digest) })),
    });
  }
}
