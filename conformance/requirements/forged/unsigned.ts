import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.4/3',
  title: 'an unsigned message is refused where signatures are required',
  level: 'must',
  says: 'a message that does not meet the security policy is not accepted',
  refs: ['AS4 5.1.4', 'ebMS Core 6.7.2 EBMS:0103'],
  sends: 'the message without a signature',
  expects: 'no Receipt, no delivery',
  needs: ['signing', 'signature-required'],
  async run(c) {
    const message = c.message().unsigned();
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
