import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/22',
  title: 'a storm of a hundred copies in a row is one delivery',
  level: 'must',
  says: 'duplicates are eliminated, however many there are',
  refs: ['AS4 3.2', 'phoss-ap issue 68'],
  sends: 'the same bytes a hundred times, five at a time',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/2'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'copy 1' });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 5 }, (_, index) => c.send(request, { label: `copy ${round * 5 + index + 2}` })),
      );
    }
    await c.delivered(message, 1);
  },
};
