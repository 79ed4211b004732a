import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/2',
  title: 'five copies in a row are one delivery',
  level: 'must',
  says: 'a sender may retry several times under one MessageId',
  refs: ['AS4 3.2', 'P-Mode ONEWAY_RETRY of the EC test bed: five retries'],
  sends: 'the same bytes five times',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    for (let copy = 1; copy <= 5; copy += 1) await c.send(request, { label: `copy ${copy}` });
    await c.delivered(message, 1);
  },
};
