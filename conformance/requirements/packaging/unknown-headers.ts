import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc5322/2.2/2',
  title: 'unknown header fields of a part are ignored',
  level: 'must',
  says: 'unknown MIME headers are to be ignored',
  refs: ['RFC 2045 9', 'ebXML IIC urn:semreq:id:15'],
  sends: 'X- fields, Content-Description and Content-Disposition',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: {
        mime: {
          headers: (lines) => [
            'X-As4-Once-Test: 1',
            ...lines,
            'Content-Description: a part',
            'Content-Disposition: attachment; filename="payload.xml"',
          ],
        },
      },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
