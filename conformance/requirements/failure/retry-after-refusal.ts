import { noReceipt, receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/failure/1',
  title: 'a message whose delivery failed is delivered when it comes again',
  level: 'observe',
  says: 'retries are there to get a message through; AS4 does not say when an id counts as seen',
  refs: ['AS4 3.2, 3.4', 'django-pyas2 issue 33', 'phase4 and phoss-ap keep the id (measured, read)'],
  sends: 'a message while the backend refuses, and the same bytes when it works again',
  expects: 'where it is claimed: a Receipt and one delivery for the second copy',
  needs: ['backend-fail', 'delivery'],
  dependsOn: ['as4/3.4/2'],
  alone: true,
  claimed: ({ failedRetry }) => failedRetry === 'deliver',
  async run(c) {
    await c.backend('fail');
    const message = c.message();
    const request = message.build();
    noReceipt(await c.send(request, { label: 'backend refuses' }));
    await c.backend('normal');
    const second = await c.retry(request, { label: 'backend works again' });
    c.observe(`the second copy got: ${second.summary}`);
    receiptFor(second, message, 'the answer to the second copy');
    await c.delivered(message, 1);
  },
};
