import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2045/5.1/2',
  title: 'parameters of Content-Type may be spaced in any way',
  level: 'must',
  says: 'white space, a tab or nothing may stand around the semicolons',
  refs: ['RFC 2045 5.1', 'RFC 9110 5.6.6'],
  sends: 'a tab, no space, and several spaces between parameters',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: {
        mime: {
          contentType: (value) =>
            value.replace('; boundary', ';boundary').replace('; type', ' ;\ttype').replace('; start', ';   start'),
        },
      },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
