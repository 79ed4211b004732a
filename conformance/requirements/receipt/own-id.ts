import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.2.1/1',
  title: 'every Receipt has a MessageId of its own',
  level: 'must',
  says: 'each message unit carries a globally unique MessageId',
  refs: ['ebMS Core 5.2.2.1'],
  sends: 'two messages',
  expects: 'two Receipts with different, non-empty MessageIds that are not those of the messages',
  async run(c) {
    const [first, second] = [c.message(), c.message()];
    const ids = [receiptFor(await c.send(first), first).messageId, receiptFor(await c.send(second), second).messageId];
    for (const id of ids) {
      if (id === undefined || id.trim() === '') throw new Broken('a Receipt has no MessageId');
      if (id === first.messageId || id === second.messageId)
        throw new Broken(`a Receipt carries the id of the message: ${id}`);
    }
    if (ids[0] === ids[1]) throw new Broken(`two messages got Receipts with the same MessageId ${ids[0]}`);
  },
};
