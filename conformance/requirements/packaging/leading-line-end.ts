import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2046/5.1.1/3',
  title: 'an empty line before the first boundary is allowed',
  level: 'must',
  says: 'the line end before a boundary belongs to it, and a preamble may be empty',
  refs: ['RFC 2046 5.1.1', 'Oxalis-NG wire habit'],
  sends: 'CRLF, then the first boundary',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { mime: { start: 'none', preamble: '\r\n' } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
