import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc9110/10.1.1/1',
  title: 'Expect: 100-continue does not hold the request up',
  level: 'must',
  says: 'a server that gets 100-continue sends 100 or a final status',
  refs: ['RFC 9110 10.1.1', '.NET senders'],
  sends: 'Expect: 100-continue',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message();
    receiptFor(await c.send(message, { dials: { expect: true } }), message);
    await c.delivered(message, 1);
  },
};
