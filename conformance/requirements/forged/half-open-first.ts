import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/forged/4',
  title: 'a half-sent copy that stays open does not keep the genuine message out',
  level: 'observe',
  says: 'nothing is said; a receiver that takes the id from half a request can be blocked by anybody',
  refs: ['AS4 3.2'],
  sends: 'a copy that stops in the middle of its payload with the connection open, and the genuine message meanwhile',
  expects: 'where it is claimed: a Receipt for the genuine message while the other is still open; one delivery',
  needs: ['delivery'],
  claimed: ({ forgedFirst }) => forgedFirst === 'harmless',
  async run(c) {
    const message = c.message();
    const request = message.build();
    const middle = Math.floor((request.rootEnd + request.closingStart) / 2);
    const openMs = Math.min(c.target.times.answer, 4 * c.target.times.quiet);
    const half = c.send(request, {
      label: 'half a copy',
      dials: { cutAfter: { bytes: middle, how: 'end', afterMs: openMs } },
    });
    await c.sleep(Math.min(500, c.target.times.quiet));
    const began = performance.now();
    const genuine = await c.retry(request, { label: 'genuine message' });
    const waited = performance.now() - began;
    c.observe(
      `the genuine message got: ${genuine.summary}${waited >= openMs ? ', only after the half copy had ended' : ''}`,
    );
    receiptFor(genuine, message, 'the answer to the genuine message');
    await half;
    await c.delivered(message, 1);
  },
};
