import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2046/5.1.1/1',
  title: 'a boundary may hold every character of its alphabet',
  level: 'must',
  says: "a quoted boundary may contain '()+_,-./:=? and digits and letters, up to 70 characters",
  refs: ['RFC 2046 5.1.1'],
  sends: 'a boundary of 69 characters with all of them',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: { mime: { boundary: `=_'()+_,-./:=?${'x'.repeat(42)}_0123456789`, start: 'none' } },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
