import { identical } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/replay/3',
  title: 'a retry that was signed anew gets the first Receipt',
  level: 'observe',
  says: 'the payload digests of a retry do not differ, so the first Receipt still acknowledges it',
  refs: ['AS4 3.2', 'Holodeck B2B as a sender accepts it'],
  sends: 'a message, and the same one built again',
  expects: 'where identical answers are claimed: the bytes of the first answer',
  needs: ['signing'],
  dependsOn: ['once/replay/2'],
  claimed: ({ duplicate }) => duplicate === 'identical',
  async run(c) {
    const message = c.message();
    const first = await c.send(message, { label: 'first copy' });
    const retry = await c.send(message, { label: 'signed anew' });
    c.observe(retry.body.equals(first.body) ? 'the same bytes' : `the retry got: ${retry.summary}`);
    identical(first, retry, 'the answer to the retry');
    await c.delivered(message, 1);
  },
};
