import { noReceipt, refused } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2387/3.2/5',
  title: 'a start parameter that names a later part',
  level: 'observe',
  says: 'start names the root; products differ in whether they follow it, and two readers may then see two messages',
  refs: ['RFC 2387 3.2', 'ebMS Core 5.1'],
  sends: 'a package whose start names the last part, which is the envelope',
  expects: 'either accepted as that message, or refused; what is claimed is judged',
  claimed: ({ startElsewhere }) => startElsewhere !== undefined,
  async run(c) {
    const message = c.message({ plan: { mime: { rootFirst: false } } });
    const answer = await c.send(message);
    c.observe(answer.summary);
    if (c.target.claims.startElsewhere === 'refuse') {
      refused(answer);
      await c.delivered(message, 0);
    } else if (answer.what === 'receipt') await c.delivered(message, 1);
    else noReceipt(answer);
  },
};
