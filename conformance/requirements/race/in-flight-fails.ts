import { noReceipt, receiptFor, retryable } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/flight/2',
  title: 'a copy in flight is not lost when the first attempt fails',
  level: 'observe',
  says: 'a Receipt is never sent for what failed; whether a waiting copy is delivered then is not said',
  refs: ['AS4 3.4', 'phase4: neither is delivered (measured)'],
  sends: 'a message that the backend refuses, a copy at the same time, and one more when the backend works again',
  expects: 'where retries after failures are claimed: no Receipt for the failed ones, one delivery in the end',
  needs: ['backend-fail', 'delivery'],
  dependsOn: ['as4/3.4/2'],
  alone: true,
  claimed: ({ failedRetry }) => failedRetry === 'deliver',
  async run(c) {
    await c.backend('fail');
    const message = c.message();
    const request = message.build();
    const answers = await Promise.all(
      ['first copy', 'copy at the same time'].map((label) => c.send(request, { label })),
    );
    for (const answer of answers) noReceipt(answer);
    await c.backend('normal');
    const last = await c.retry(request, { label: 'backend works again' });
    c.observe(`the last copy got: ${last.summary}`);
    if (retryable(last)) throw new Broken(`the last copy is still asked to come again: ${last.summary}`);
    receiptFor(last, message, 'the answer to the last copy');
    await c.delivered(message, 1);
  },
};
