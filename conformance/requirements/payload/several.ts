import { receiptFor, sameDigests } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta07/1',
  title: 'a message with three payloads gets one Receipt over all of them',
  level: 'must',
  says: 'all payloads of a message are delivered as one unit and acknowledged together',
  refs: ['AS4_CP_TA07', 'AS4_CP_TA32'],
  sends: 'three payloads, then the same bytes again',
  expects: 'a Receipt with the digests of all three; nothing more is delivered for the second copy',
  needs: ['many-payloads'],
  async run(c) {
    const message = c.message({ payloads: 3 });
    const request = message.build();
    const receipt = receiptFor(await c.send(request, { label: 'first copy' }), message);
    if (request.references.length > 0) sameDigests(receipt, request.references);
    const once = await c.countLater(message);
    await c.send(request, { label: 'second copy' });
    if (once !== undefined) await c.delivered(message, once);
  },
};
