import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2046/5.1.1/2',
  title: 'preamble and epilogue are ignored',
  level: 'must',
  says: 'text before the first and after the last boundary line is to be ignored',
  refs: ['RFC 2046 5.1.1'],
  sends: 'a package with both',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: { mime: { preamble: 'This is a multi-part message in MIME format.', epilogue: 'end of message\r\n' } },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
