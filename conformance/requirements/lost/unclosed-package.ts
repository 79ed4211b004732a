import { noReceipt, receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2046/5.1.1/6',
  title: 'a package without its closing boundary is refused',
  level: 'should',
  says: 'the last part is followed by a closing boundary; a package without one may have been cut on the way',
  refs: ['RFC 2046 5.1.1'],
  sends: 'a complete HTTP request whose MIME package is not closed; then the whole message',
  expects: 'no Receipt for the first; a Receipt and one delivery for the second',
  async run(c) {
    const message = c.message();
    noReceipt(await c.send(message.with({ mime: { closed: false } }), { label: 'not closed' }));
    await c.delivered(message, 0);
    receiptFor(await c.send(message, { label: 'whole' }), message);
    await c.delivered(message, 1);
  },
};
