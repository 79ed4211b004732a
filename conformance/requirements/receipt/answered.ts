import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.8/1',
  title: 'a UserMessage is delivered and answered with a Receipt',
  level: 'must',
  says: 'a Receipt comes back within an HTTP response of status 2XX',
  refs: ['AS4 5.1.8', 'AS4_CP_TA01', 'AS4_CP_TA14'],
  sends: 'one message',
  expects: 'a Receipt that names it; one delivery',
  async run(c) {
    const message = c.message();
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
