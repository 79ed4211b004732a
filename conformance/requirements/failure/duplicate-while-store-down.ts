import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/21',
  title: 'a duplicate is not delivered because the store is down',
  level: 'must',
  says: 'duplicates are eliminated within the check window, whatever happens to the log of MessageIds',
  refs: ['AS4 3.2'],
  sends: 'a message, the same bytes while the store is down, and once more when it is back',
  expects: 'one delivery',
  needs: ['store', 'delivery'],
  dependsOn: ['as4/3.2/1'],
  alone: true,
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    await c.delivered(message, 1);
    await c.store('down');
    const during = await c.send(request, { label: 'store down' });
    c.observe(`while the store was down: ${during.summary}`);
    await c.store('up');
    await c.retry(request, { label: 'store back' });
    await c.delivered(message, 1);
  },
};
