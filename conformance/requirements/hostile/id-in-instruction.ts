import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'soap12/5/3',
  title: 'a MessageId hidden in a processing instruction is not believed',
  level: 'must',
  says: "a processing instruction is not part of an element's text, so this MessageId is empty",
  refs: ['XML 1.0 2.6', 'ebMS Core 5.2.2.1'],
  sends: '<eb:MessageId><?p the-id?></eb:MessageId>, signed before the instruction was put in',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message({
      plan: {
        tamper: (xml) => xml.replace(/<eb:MessageId>([^<]*)<\/eb:MessageId>/, '<eb:MessageId><?p $1?></eb:MessageId>'),
      },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
