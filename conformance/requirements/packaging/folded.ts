import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc5322/2.2/1',
  title: 'folded header fields of a part are read',
  level: 'must',
  says: 'a header field may be folded over several lines',
  refs: ['RFC 5322 2.2.3', 'EC sample messages'],
  sends: 'Content-Type and Content-ID with their values on the next line',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: { mime: { headers: (lines) => lines.map((line) => line.replace(/: /, ':\r\n  ')) } },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
