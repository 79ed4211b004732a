import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2387/3.2/1',
  title: 'without a start parameter the first part is the root',
  level: 'must',
  says: 'the root is the first part when start is absent',
  refs: ['RFC 2387 3.2', 'phase4 issue 263'],
  sends: 'multipart/related without start',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { mime: { start: 'none' } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
