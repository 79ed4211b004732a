import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/10',
  title: 'a duplicate is recognised after a restart',
  level: 'must',
  says: 'the check window is a guaranteed minimum; a restart does not end it',
  refs: ['AS4 3.2: checkwindow'],
  sends: 'a message, a restart of the target, the same bytes',
  expects: 'one delivery',
  needs: ['delivery', 'restart'],
  dependsOn: ['as4/3.2/1'],
  alone: true,
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'before the restart' });
    await c.delivered(message, 1);
    await c.restart('restart');
    const after = await c.retry(request, { label: 'after the restart' });
    c.observe(`the copy after the restart got: ${after.summary}`);
    await c.delivered(message, 1);
  },
};
