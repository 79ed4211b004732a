import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta35/1',
  title: 'a message that was signed before it was compressed is refused',
  level: 'must',
  says: 'the order is compress, sign, encrypt; another order leads to an error',
  refs: ['AS4_CP_TA35', 'AS4 3.1, 5.1.6'],
  sends: 'a compressed payload whose signed digest is that of the uncompressed content',
  expects: 'no Receipt, no delivery',
  needs: ['signing', 'signature-required', 'compressed'],
  async run(c) {
    const message = c.message({ plan: { order: 'sign-compress' } });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
