import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/4',
  title: 'a retry that was encrypted anew is a duplicate',
  level: 'must',
  says: 'the digests of a retry stay the same; its encrypted bytes need not',
  refs: ['AS4 3.2', 'AS4 5.1.6'],
  sends: 'a message, then the same one with a new session key and IV',
  expects: 'one delivery',
  needs: ['delivery', 'encryption'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(message.build(), { label: 'retry' });
    c.observe(`the retry got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
