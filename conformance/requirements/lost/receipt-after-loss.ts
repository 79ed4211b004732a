import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/replay/5',
  title: 'a sender that lost its Receipt gets one by retrying',
  level: 'observe',
  says: 'the EC assertion ends with a Receipt at the sender; AS4 does not say who makes it',
  refs: ['AS4_CP_TA10', 'ebMS 2.0 6.5.5'],
  sends: 'a message whose sender waits until it is delivered and closes without reading, then the same bytes',
  expects: 'where a Receipt for duplicates is claimed: a Receipt for the message',
  dependsOn: ['as4/3.2/14', 'once/replay/1'],
  claimed: ({ duplicate }) => duplicate !== undefined,
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'sender leaves', dials: { leaveAfterMs: 0 } });
    await c.atRest(message);
    const answer = await c.retry(request, { label: 'retry' });
    c.observe(`the retry got: ${answer.summary}`);
    receiptFor(answer, message, 'the answer to the retry');
    await c.delivered(message, 1);
  },
};
