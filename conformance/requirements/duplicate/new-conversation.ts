import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/8.2.2/1',
  title: 'a copy with another ConversationId is a duplicate',
  level: 'must',
  says: 'two messages are duplicates when their MessageId values are equal',
  refs: ['ebMS Core 8.2.2'],
  sends: 'a message, then the same one under another ConversationId',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    await c.send(message, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(
      message.with({ message: { conversationId: `again-${message.plan.message.conversationId}` } }),
      { label: 'retry' },
    );
    c.observe(`the retry got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
