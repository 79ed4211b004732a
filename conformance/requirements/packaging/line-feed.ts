import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2046/5.1.1/5',
  title: 'a package framed with bare line feeds is read',
  level: 'should',
  says: 'lines end in CRLF; real messages with LF exist and carry the same content',
  refs: ['RFC 2046 4.1.1', 'recorded messages'],
  sends: 'the MIME framing with LF only, contents unchanged',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({ plan: { mime: { lineEnd: '\n' } } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
