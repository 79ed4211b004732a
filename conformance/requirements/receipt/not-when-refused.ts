import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.4/2',
  title: 'a message that the backend refused gets no Receipt',
  level: 'must',
  says: 'where processing cannot be completed, no Receipt is returned',
  refs: ['AS4 3.4', 'eDelivery AS4 1.15'],
  sends: 'one message while the backend refuses',
  expects: 'no Receipt, no delivery',
  needs: ['backend-fail', 'delivery'],
  alone: true,
  async run(c) {
    await c.backend('fail');
    const message = c.message();
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
