import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xml/2.1/1',
  title: 'white space between header elements has no meaning',
  level: 'must',
  says: 'elements of the header may be indented',
  refs: ['ebMS Core 5.2 schema: element content only'],
  sends: 'an indented eb:UserMessage, signed so',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: { spelling: { shape: (xml) => xml.replace(/></g, '>\n  <').replace(/>\s+<\/(?=S12:Body)/, '></') } },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
