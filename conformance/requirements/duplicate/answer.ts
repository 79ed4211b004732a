import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/replay/1',
  title: 'what a duplicate is answered with',
  level: 'observe',
  says: 'AS4 does not say; ebMS 2.0 sends the stored first response again',
  refs: ['ebMS 2.0 6.5.5', 'ebMS Core 8.3.2'],
  sends: 'the same bytes twice',
  expects: 'where a Receipt is claimed, a Receipt for the message',
  dependsOn: ['as4/3.2/1'],
  claimed: ({ duplicate }) => duplicate !== undefined,
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    const second = await c.send(request, { label: 'second copy' });
    c.observe(`a duplicate gets: ${second.summary}`);
    receiptFor(second, message, 'the answer to the duplicate');
  },
};
