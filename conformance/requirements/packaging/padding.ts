import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2046/5.1.1/4',
  title: 'white space after a boundary is ignored',
  level: 'must',
  says: 'a boundary line may end in transport padding',
  refs: ['RFC 2046 5.1.1'],
  sends: 'blanks and a tab after each opening boundary',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { mime: { padding: '  \t ' } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
