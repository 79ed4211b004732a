import { freshMessageId, userMessage } from '../../as4/user-message.js';
import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.4/1',
  title: 'two UserMessages in one envelope are refused',
  level: 'must',
  says: 'eb:Messaging holds at most one UserMessage',
  refs: ['ebMS Core 5.2.4', 'phase4 UserMessageFailureForgeryTest'],
  sends: 'a second eb:UserMessage with an id of its own beside the first, both signed',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message();
    const second = userMessage({ ...message.plan.message, messageId: freshMessageId() }, 'eb:');
    const both = message.with({ spelling: { afterUserMessage: second } });
    noReceipt(await c.send(both));
    await c.delivered(both, 0);
  },
};
