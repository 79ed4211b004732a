import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2387/3.2/2',
  title: 'a start parameter that names the first part is honoured',
  level: 'must',
  says: 'start holds the Content-ID of the root part, in angle brackets',
  refs: ['RFC 2387 3.2'],
  sends: 'multipart/related with start="<root>"',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { mime: { start: 'root' } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
