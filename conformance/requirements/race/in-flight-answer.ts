import { receiptFor, retryable } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/flight/1',
  title: 'a copy that comes while the first is in work waits or is asked to come again',
  level: 'observe',
  says:
    'ebMS 2.0 waits for the response and returns it; AS4 is silent; senders give up for good on an Error of ' +
    'severity failure',
  refs: ['ebMS 2.0 6.5.5', 'phase4 and Holodeck B2B as senders (measured)'],
  sends: 'a message to a slow backend, and a copy while it is in work',
  expects:
    'where it is claimed: the copy gets a Receipt for the message, or a status that lets it retry; never an ebMS Error',
  needs: ['backend-slow'],
  dependsOn: ['as4/3.2/20'],
  alone: true,
  claimed: ({ inFlight }) => inFlight === 'wait-or-retry',
  async run(c) {
    await c.backend('slow');
    const message = c.message();
    const request = message.build();
    const first = c.send(request, { label: 'first copy' });
    await c.sleep(c.target.times.slow / 3);
    const copy = await c.send(request, { label: 'copy in between' });
    c.observe(`the copy got: ${copy.summary}`);
    const other = await first;
    if (other.what === 'error' || other.what === 'fault') throw new Broken(`the first copy got ${other.summary}`);
    if (!retryable(other)) receiptFor(other, message, 'the answer to the first copy');
    if (copy.what === 'error' || copy.what === 'fault') throw new Broken(`the copy got ${copy.summary}`);
    if (!retryable(copy)) receiptFor(copy, message, 'the answer to the copy');
    if (retryable(copy) && retryable(other)) throw new Broken('neither copy got a Receipt');
  },
};
