import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc9112/6.3/1',
  title: 'a request with Content-Length is accepted',
  level: 'must',
  says: 'the body has the given length',
  refs: ['RFC 9112 6.3'],
  sends: 'Content-Length',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message();
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
