import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.2.1/4',
  title: 'an empty MessageId is refused',
  level: 'must',
  says: 'MessageId is required and has the form of an RFC 2822 msg-id',
  refs: ['ebMS Core 5.2.2.1', 'phase4 lets an empty id pass its check (read in source)'],
  sends: '<eb:MessageId></eb:MessageId>, signed so',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message({ message: { messageId: '' } });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
