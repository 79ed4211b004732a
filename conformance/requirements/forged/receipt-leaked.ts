import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.4/3',
  title: 'one sender never gets the Receipt of another',
  level: 'must',
  says: 'a Receipt says that this message of this sender was processed',
  refs: ['AS4 3.4', 'AS4 5.1.8'],
  sends: 'a message, then another message with its id from a second sender that the target knows',
  expects: "the second sender does not get the first one's Receipt, nor a Receipt over its digests",
  needs: ['other-sender'],
  async run(c) {
    const first = c.message();
    const mine = await c.send(first, { label: 'first sender' });
    const other = await c.send(c.fromOther({ messageId: first.messageId }), { label: 'other sender' });
    if (other.receipt === undefined || mine.receipt === undefined) {
      c.observe(`the other sender got: ${other.summary}`);
      return;
    }
    if (other.body.equals(mine.body))
      throw new Broken(`the other sender got the first sender's Receipt ${mine.receipt.messageId}`);
    const digests = new Set(mine.receipt.references?.map(({ digest }) => digest));
    const leaked =
      other.receipt.references?.filter(({ digest, uri }) => uri.startsWith('cid:') && digests.has(digest)) ?? [];
    if (leaked.length > 0) throw new Broken("the other sender got a Receipt over the first sender's payload digests");
  },
};
