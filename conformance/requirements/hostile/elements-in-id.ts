import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.2.1/5',
  title: 'a MessageId with elements inside is refused',
  level: 'must',
  says: 'MessageId has simple content',
  refs: ['ebMS header schema'],
  sends: '<eb:MessageId>a<eb:b>c</eb:b></eb:MessageId>, signed so',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message({ plan: { spelling: { messageIdXml: 'a<eb:b>c</eb:b>@as4-once-conformance.test' } } });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
