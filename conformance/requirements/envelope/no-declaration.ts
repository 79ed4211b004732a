import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xml/2.8/1',
  title: 'the XML declaration may be left out',
  level: 'must',
  says: 'a document should, but need not, begin with a declaration',
  refs: ['XML 1.0 2.8'],
  sends: 'an envelope without <?xml …?>',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { spelling: { declaration: false } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
