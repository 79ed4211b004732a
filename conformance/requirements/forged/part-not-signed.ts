import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.5/2',
  title: 'a payload that the signature does not cover is refused',
  level: 'must',
  says: 'every MIME part of the message is signed',
  refs: ['AS4 5.1.5', 'AS4_CP_TA12'],
  sends: 'a message whose signature covers the header and the Body only',
  expects: 'no Receipt, no delivery',
  needs: ['signing', 'signature-required'],
  async run(c) {
    const message = c.message({ plan: { signParts: false } });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
