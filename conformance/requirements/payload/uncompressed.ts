import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta04/1',
  title: 'an uncompressed payload is accepted and delivered',
  level: 'must',
  says: 'compression is a choice of the sender: a Receipt and a delivery for an uncompressed payload',
  refs: ['AS4_CP_TA04', 'Domibus Dom151'],
  sends: 'a payload as application/octet-stream without compression',
  expects: 'a Receipt; one delivery',
  needs: ['uncompressed'],
  async run(c) {
    const message = c.message({
      payload: (payload) => ({ ...payload, compress: false, mimeType: 'application/octet-stream' }),
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
