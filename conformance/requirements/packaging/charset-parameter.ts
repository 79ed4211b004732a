import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2045/5.1/4',
  title: 'unknown parameters of Content-Type are ignored',
  level: 'must',
  says: 'parameters that are not known are to be ignored',
  refs: ['RFC 2045 1 and 5.1', 'phase4 issue 263: charset on multipart/related'],
  sends: 'charset=UTF-8 and another parameter on multipart/related',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: { mime: { contentType: (value) => `${value}; charset=UTF-8; x-sender=conformance` } },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
