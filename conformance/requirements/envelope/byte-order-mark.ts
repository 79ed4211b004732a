import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xml/4.3.3/1',
  title: 'a UTF-8 byte order mark is borne',
  level: 'should',
  says: 'UTF-8 entities may begin with the mark; eDelivery 1.15 asks for tolerance',
  refs: ['XML 1.0 4.3.3', 'eDelivery AS4 1.15'],
  sends: 'EF BB BF before the envelope',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { spelling: { byteOrderMark: true } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
