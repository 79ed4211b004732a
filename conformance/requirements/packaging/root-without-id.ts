import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2387/3.2/3',
  title: 'the root part needs no Content-ID when it comes first',
  level: 'must',
  says: 'start and the Content-ID it names are optional',
  refs: ['RFC 2387 3.2', 'ebMS Core 5.1'],
  sends: 'a root part without Content-ID, no start',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { mime: { start: 'none', rootContentId: undefined } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
