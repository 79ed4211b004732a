import { identical } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/replay/2',
  title: 'a duplicate gets the very bytes of the first answer',
  level: 'observe',
  says: 'ebMS 2.0 resends the persisted response; AS4 is silent',
  refs: ['ebMS 2.0 6.5.5'],
  sends: 'the same bytes three times',
  expects: 'where it is claimed: status, Content-Type and body equal to the first answer',
  dependsOn: ['as4/3.2/1', 'once/replay/1'],
  claimed: ({ duplicate }) => duplicate === 'identical',
  async run(c) {
    const message = c.message();
    const request = message.build();
    const first = await c.send(request, { label: 'first copy' });
    for (const label of ['second copy', 'third copy']) {
      const again = await c.send(request, { label });
      c.observe(again.body.equals(first.body) ? `${label}: the same bytes` : `${label}: ${again.summary}`);
      identical(first, again, `the answer to the ${label}`);
    }
    await c.delivered(message, 1);
  },
};
