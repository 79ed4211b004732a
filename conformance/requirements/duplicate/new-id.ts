import { freshMessageId } from '../../as4/user-message.js';
import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/9',
  title: 'the same content under a new MessageId is another message',
  level: 'must',
  says: 'duplicate detection relies on MessageId only',
  refs: ['AS4 3.2'],
  sends: 'the same payload under two MessageIds',
  expects: 'a Receipt for each, two deliveries',
  needs: ['delivery'],
  async run(c) {
    const first = c.message();
    const second = first.with({ message: { messageId: freshMessageId() } });
    receiptFor(await c.send(first, { label: 'first id' }), first);
    await c.delivered(first, 1);
    receiptFor(await c.send(second, { label: 'second id' }), second);
    await c.delivered(first, 2);
  },
};
