import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.2.1/3',
  title: 'MessageIds that differ in case are two messages',
  level: 'must',
  says: 'a MessageId is an RFC 2822 msg-id, whose left part is case sensitive, and is compared as it is',
  refs: ['ebMS Core 5.2.2.1', 'RFC 2822 3.6.4', 'Domibus Dom115'],
  sends: 'two messages whose ids differ only in the case of letters before the @',
  expects: 'a Receipt for each that names its own id, one delivery of each',
  needs: ['delivery'],
  async run(c) {
    const stem = c.message().messageId;
    const lower = c.message({ message: { messageId: `case-${stem.toLowerCase()}` } });
    const upper = c.message({ message: { messageId: `CASE-${stem.toLowerCase()}` } });
    receiptFor(await c.send(lower, { label: 'lower case' }), lower);
    receiptFor(await c.send(upper, { label: 'upper case' }), upper);
    await c.delivered(lower, 1);
    await c.delivered(upper, 1);
  },
};
