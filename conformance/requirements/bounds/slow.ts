import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/bounds/2',
  title: 'a slow sender is waited for',
  level: 'should',
  says: 'nothing is said; a line of a few KiB a second is honest traffic',
  refs: ['oxalis issue 95'],
  sends: 'a message in pieces of 1 KiB with a pause between them',
  expects: 'a Receipt; one delivery',
  async run(c) {
    const message = c.message();
    receiptFor(
      await c.send(message, { dials: { pace: { bytes: 1_024, everyMs: Math.min(250, c.target.times.quiet / 4) } } }),
      message,
    );
    await c.delivered(message, 1);
  },
};
