import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'soap12/5/2',
  title: 'an envelope with a processing instruction is refused',
  level: 'should',
  says: 'a SOAP message should not hold processing instructions, and a receiver should fault them',
  refs: ['SOAP 1.2 Part 1, 5', 'xml-crypto digests an instruction as text (measured)'],
  sends: 'a processing instruction between Header and Body',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message({
      plan: { tamper: (xml) => xml.replace('</S12:Header>', '</S12:Header><?as4-once test?>') },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
