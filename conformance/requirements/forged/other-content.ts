import { refused } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/content/1',
  title: 'the same MessageId with another payload',
  level: 'observe',
  says: 'a retry keeps its digests, so this is no retry; what to answer is not said',
  refs: ['AS4 3.2', 'Holodeck B2B altered payload (recorded)'],
  sends: 'a message, then a validly signed message with its id and another payload',
  expects: 'where refusal is claimed: an error and no delivery of the second; otherwise what happens is reported',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  claimed: ({ mismatch }) => mismatch === 'refuse',
  async run(c) {
    const first = c.message();
    const second = c.message({ message: { messageId: first.messageId } });
    await c.send(first, { label: 'first content' });
    await c.delivered(first, 1);
    const answer = await c.send(second, { label: 'other content' });
    c.observe(`the second content got: ${answer.summary}; delivered ${await c.countLater(second)} times`);
    if (c.target.claims.mismatch === 'refuse') {
      refused(answer, 'the answer to the second content');
      await c.delivered(second, 0);
    }
    await c.delivered(first, 1);
  },
};
