import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'peppol/4.10/1',
  title: 'a chunked request is accepted',
  level: 'must',
  says: 'chunked transfer coding has to be accepted',
  refs: ['OpenPeppol AS4 4.10', 'RFC 9112 7.1'],
  sends: 'chunks of 1,000 bytes',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message();
    receiptFor(await c.send(message, { dials: { chunked: 1_000 } }), message);
    await c.delivered(message, 1);
  },
};
