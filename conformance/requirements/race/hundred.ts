import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/17',
  title: 'a hundred copies at once are one delivery',
  level: 'must',
  says: 'duplicates are eliminated; nothing exempts those that arrive together',
  refs: ['AS4 3.2', 'ebMS Core 8.2.2'],
  sends: 'the same bytes over a hundred connections at once, and once more afterwards',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    const requests = Array.from({ length: 100 }, () => request);
    await Promise.all(requests.map((copy, index) => c.send(copy, { label: `copy ${index + 1}` })));
    await c.retry(requests[0] ?? message, { label: 'afterwards' });
    await c.delivered(message, 1);
  },
};
