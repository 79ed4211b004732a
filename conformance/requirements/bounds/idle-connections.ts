import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/bounds/3',
  title: 'half-sent requests do not keep others out',
  level: 'should',
  says: 'nothing is said; a receiver that waits for everybody in turn can be stopped by anybody',
  refs: ['slow-loris'],
  sends: 'thirty requests that stop in their header with the connection open, and a message meanwhile',
  expects: 'a Receipt for the message; one delivery',
  async run(c) {
    const openMs = Math.min(c.target.times.answer, 4 * c.target.times.quiet);
    const stuck = Array.from({ length: 30 }, () => {
      const request = c.message().build();
      return c.send(request, {
        label: 'half a header',
        dials: { cutAfter: { bytes: Math.floor(request.rootEnd / 2), how: 'end', afterMs: openMs } },
      });
    });
    const message = c.message();
    receiptFor(await c.send(message, { label: 'whole message' }), message);
    await c.delivered(message, 1);
    await Promise.all(stuck);
  },
};
