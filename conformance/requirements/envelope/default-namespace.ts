import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xmlns/3/2',
  title: 'eb:Messaging may stand in the default namespace',
  level: 'must',
  says: 'a default namespace applies to elements without a prefix',
  refs: ['Namespaces in XML 6.2'],
  sends: '<Messaging xmlns="…"> without a prefix',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { spelling: { ebPrefix: '' } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
