import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/11',
  title: 'a duplicate is recognised after the target was killed',
  level: 'must',
  says: 'the check window is a guaranteed minimum; a crash does not end it',
  refs: ['AS4 3.2: checkwindow'],
  sends: 'a message, then the target is killed as soon as the Receipt is there and started again, then the same bytes',
  expects: 'one delivery',
  needs: ['delivery', 'kill'],
  dependsOn: ['as4/3.2/1'],
  alone: true,
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'before the kill' });
    await c.restart('kill');
    await c.delivered(message, 1);
    await c.retry(request, { label: 'after the kill' });
    await c.delivered(message, 1);
  },
};
