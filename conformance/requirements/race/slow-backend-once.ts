import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/20',
  title: 'a copy that comes while the first is in work is not delivered',
  level: 'must',
  says: 'duplicates are eliminated; the first copy counts from its arrival',
  refs: ['AS4 3.2'],
  sends: 'a message to a slow backend, and copies while it is in work',
  expects: 'a Receipt for the first, one delivery',
  needs: ['delivery', 'backend-slow'],
  dependsOn: ['as4/3.2/1'],
  alone: true,
  async run(c) {
    await c.backend('slow');
    const message = c.message();
    const request = message.build();
    const first = c.send(request, { label: 'first copy' });
    await c.sleep(c.target.times.slow / 4);
    const second = c.send(request, { label: 'a quarter later' });
    await c.sleep(c.target.times.slow / 4);
    const third = c.send(request, { label: 'a half later' });
    receiptFor(await first, message, 'the answer to the first copy');
    for (const answer of [await second, await third]) c.observe(answer.summary);
    await c.delivered(message, 1);
  },
};
