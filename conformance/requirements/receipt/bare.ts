import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.1/2',
  title: 'a message without payload comes as plain SOAP and gets its Receipt',
  level: 'must',
  says: 'a message without payload parts may be sent as a SOAP envelope without MIME',
  refs: ['ebMS Core 5.1', 'AS4_CP_TA22'],
  sends: 'an envelope alone, signed where messages are',
  expects: 'a Receipt for it',
  needs: ['bare'],
  async run(c) {
    const message = c.message({ payloads: 0, plan: { packaging: 'bare' } });
    receiptFor(await c.send(message), message);
  },
};
