import { receiptFor, sameDigests } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.8/3',
  title: 'the Receipt acknowledges the digests that were signed',
  level: 'must',
  says: 'non-repudiation information holds the ds:Reference elements of the message it acknowledges',
  refs: ['AS4 5.1.8 (b)', 'AS4.NET NR receipt hashes'],
  sends: 'one signed message',
  expects: "the same URIs, algorithms and digest values as in the message's SignedInfo, no more and no fewer",
  needs: ['signing'],
  dependsOn: ['as4/5.1.8/2'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    sameDigests(receiptFor(await c.send(request), message), request.references);
    await c.delivered(message, 1);
  },
};
