import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xml/2.1/2',
  title: 'an envelope that is not well-formed is refused',
  level: 'must',
  says: 'a text that is not well-formed is no XML document',
  refs: ['XML 1.0 2.1', 'ebMS Core 6.7.1 EBMS:0009'],
  sends: 'an envelope without the end tag of its Header',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message({ plan: { tamper: (xml) => xml.replace('</S12:Header>', '') } });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
