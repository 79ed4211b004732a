import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/14',
  title: 'a retry after a lost Receipt is not delivered again',
  level: 'must',
  says: 'a sender that gets no Receipt sends again, and the receiver eliminates the copy',
  refs: ['AS4 3.2', 'AS4_CP_TA10'],
  sends: 'a message whose sender closes the connection without reading the answer, then the same bytes',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'sender leaves', dials: { leaveAfterMs: 0 } });
    await c.atRest(message);
    const answer = await c.retry(request, { label: 'retry' });
    c.observe(`the retry got: ${answer.summary}`);
    await c.delivered(message, 1);
  },
};
