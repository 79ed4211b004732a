import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'peppol/4.10/2',
  title: 'chunks may cut the request anywhere',
  level: 'must',
  says: 'chunk boundaries have no meaning',
  refs: ['RFC 9112 7.1', 'helidon issue 3967'],
  sends: 'chunks of 7 bytes',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message();
    receiptFor(await c.send(message, { dials: { chunked: 7 } }), message);
    await c.delivered(message, 1);
  },
};
