import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta04/2',
  title: 'an uncompressed XML payload is digested in canonical form',
  level: 'must',
  says: 'XML attachments are canonicalised before they are digested',
  refs: ['SwA Profile 1.1.1, 5.4.2', 'Holodeck B2B wire habit'],
  sends: 'an application/xml payload without compression, signed over its canonical form, which differs from its bytes',
  expects: 'a Receipt; one delivery',
  needs: ['uncompressed', 'signing'],
  async run(c) {
    const message = c.message({ payload: (payload) => ({ ...payload, compress: false, mimeType: 'application/xml' }) });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
