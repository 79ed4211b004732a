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
    identical(first, await c.send(message, { label: 'signed anew' }), 'the answer to the retry');
    c.observe('the answers are identical');
    await c.delivered(message, 1);
  },
};
