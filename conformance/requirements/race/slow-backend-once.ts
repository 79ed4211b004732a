import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/20',
  title: 'a copy that comes while the first is in work is not delivered',
  level: 'must',
  says: 'duplicates are eliminated; the first copy counts from its arrival',
  refs: ['AS4 3.2'],
  sends: 'a message to a slow backend, and copies while it is in work',
  expects: 'a Receipt for one of them, one delivery',
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
    const answers = [await first, await second, await third];
    for (const answer of answers) c.observe(answer.summary);
    // on a cold receiver a later copy may overtake the first one; whichever it is, one of them is accepted
    const accepted = answers.find(({ what }) => what === 'receipt');
    if (accepted === undefined) throw new Broken('no copy got a Receipt');
    receiptFor(accepted, message);
    await c.delivered(message, 1);
  },
};
