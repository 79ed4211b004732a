import { gzipSync } from 'node:zlib';
import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/bounds/1',
  title: 'a large message is accepted once',
  level: 'should',
  says: 'no size is given; ENTSOG asks for 10 MB, Peppol tests with 50 MB',
  refs: ['AS4_ENTSOG_TA12', 'Peppol Testbed', 'Drummond: 50 MB'],
  sends: 'a message of the size in accepts.largest, twice',
  expects: 'a Receipt for the first copy, one delivery',
  needs: ['large'],
  alone: true,
  async run(c) {
    // stored, not deflated, so that the message has its size on the wire too
    const message = c.message({
      bytes: c.target.largest,
      plan: { compressor: (content) => gzipSync(content, { level: 0 }) },
    });
    const request = message.build();
    receiptFor(await c.send(request, { label: 'first copy' }), message);
    await c.send(request, { label: 'second copy' });
    await c.delivered(message, 1);
  },
};
