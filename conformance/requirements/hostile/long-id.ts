import { freshMessageId } from '../../as4/user-message.js';
import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.2.1/7',
  title: 'a MessageId of 10,000 characters',
  level: 'observe',
  says: 'no length is given; cutting an id short would make two ids one',
  refs: ['ebMS Core 5.2.2.1', 'Domibus Dom011: refused beyond 255'],
  sends: 'two messages whose ids are equal in the first 9,950 characters',
  expects: 'reported: both refused, or each acknowledged under its own whole id',
  async run(c) {
    const stem = 'x'.repeat(9_950);
    for (const label of ['one long id', 'another with the same start']) {
      const message = c.message({ message: { messageId: `${stem}${freshMessageId()}` } });
      const answer = await c.send(message, { label });
      c.observe(answer.summary.slice(0, 80));
      if (answer.what === 'receipt') {
        receiptFor(answer, message);
        await c.delivered(message, 1);
      }
    }
  },
};
