import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2387/3.2/4',
  title: 'a missing type parameter is borne',
  level: 'should',
  says: 'type is asked for by the RFC, and real senders leave it away',
  refs: ['RFC 2387 3.1', 'AS4.NET test literals'],
  sends: 'multipart/related with a boundary alone',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { mime: { start: 'none', type: false } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
