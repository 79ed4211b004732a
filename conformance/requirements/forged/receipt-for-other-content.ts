import { payloadDigests } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.4/4',
  title: 'no Receipt acknowledges a payload that was not processed',
  level: 'must',
  says: 'a Receipt says that the message it acknowledges was processed without an error',
  refs: ['AS4 3.4', 'AS4 5.1.8', 'Holodeck B2B signs a Receipt over the altered digests (recorded)'],
  sends: 'a message, then a validly signed message with its id and another payload',
  expects: 'if the second gets a Receipt over its own digests, its payload was delivered',
  needs: ['signing', 'delivery'],
  dependsOn: ['as4/5.1.8/3'],
  async run(c) {
    const first = c.message();
    const second = c.message({ message: { messageId: first.messageId } });
    await c.send(first, { label: 'first content' });
    const request = second.build();
    const answer = await c.send(request, { label: 'other content' });
    const acknowledged = payloadDigests(answer.receipt?.references);
    if (acknowledged === '' || acknowledged !== payloadDigests(request.references)) {
      c.observe(`the second content got: ${answer.summary}`);
      return;
    }
    const count = await c.countLater(second);
    if (count === 0) throw new Broken('the second payload was acknowledged with its own digests, but not delivered');
  },
};
