import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xmlns/3/1',
  title: 'prefixes of the envelope are free',
  level: 'must',
  says: 'names are compared by namespace and local name',
  refs: ['Namespaces in XML 3', 'recorded messages: eb, eb3, ns2'],
  sends: 'soapenv: and ns7: instead of the usual prefixes',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { spelling: { soapPrefix: 'soapenv', ebPrefix: 'ns7' } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
