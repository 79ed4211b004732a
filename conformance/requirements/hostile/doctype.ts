import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'soap12/5/1',
  title: 'an envelope with a DOCTYPE is refused',
  level: 'must',
  says: 'a SOAP message has no document type declaration',
  refs: ['SOAP 1.2 Part 1, 5'],
  sends: 'an envelope with <!DOCTYPE …> before its root element',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message({
      plan: { tamper: (xml) => xml.replace(/(<S12:Envelope )/, '<!DOCTYPE S12:Envelope [<!ENTITY who "nobody">]>$1') },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
