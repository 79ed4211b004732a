import { receiptFor, refused } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/sender/1',
  title: 'the same MessageId from another sender',
  level: 'observe',
  says: 'AS4 looks at MessageId alone, so that one sender could take the ids of another; products differ',
  refs: ['AS4 3.2', 'Domibus Dom156 delivers both', 'Domibus 4: EBMS:0003'],
  sends: 'a message, then another message with its id from a second sender that the target knows',
  expects: 'where it is claimed: delivered with a Receipt of its own, or refused',
  needs: ['other-sender', 'delivery'],
  claimed: ({ otherSender }) => otherSender !== undefined,
  async run(c) {
    const first = c.message();
    const second = c.fromOther({ messageId: first.messageId });
    await c.send(first, { label: 'first sender' });
    await c.delivered(first, 1);
    const answer = await c.send(second, { label: 'other sender' });
    c.observe(`the other sender got: ${answer.summary}`);
    if (c.target.claims.otherSender === 'deliver') {
      receiptFor(answer, second, 'the answer to the other sender');
      await c.delivered(second, 1);
    }
    if (c.target.claims.otherSender === 'refuse') {
      refused(answer, 'the answer to the other sender');
      await c.delivered(second, 0);
    }
  },
};
