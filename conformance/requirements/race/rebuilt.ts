import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/18',
  title: 'five rebuilt copies at once are one delivery',
  level: 'must',
  says: 'duplicates are eliminated; nothing exempts those that arrive together',
  refs: ['AS4 3.2', 'ebMS Core 8.2.2'],
  sends: 'five copies, each signed and packed anew, at once, and one of them afterwards',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const requests = Array.from({ length: 5 }, () => message.build());
    await Promise.all(requests.map((copy, index) => c.send(copy, { label: `copy ${index + 1}` })));
    await c.retry(requests[0] ?? message, { label: 'afterwards' });
    await c.delivered(message, 1);
  },
};
