import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc9112/8/1',
  title: 'a request cut inside its header does no harm',
  level: 'must',
  says: 'a message that ends before its length or last chunk is incomplete and is not processed',
  refs: ['RFC 9112 8'],
  sends: 'half of the envelope, end of connection; then the whole message',
  expects: 'no delivery of the cut one; a Receipt and one delivery for the whole one',
  needs: ['delivery'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, {
      label: 'cut',
      dials: { cutAfter: { bytes: Math.floor(request.rootEnd / 2), how: 'end' } },
    });
    await c.sleep(c.target.times.quiet);
    await c.delivered(message, 0);
    receiptFor(await c.retry(request, { label: 'whole' }), message);
    await c.delivered(message, 1);
  },
};
