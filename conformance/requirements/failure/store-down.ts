import { noReceipt, receiptFor, retryable } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/store/1',
  title: 'while the store is down a new message is neither lost nor called a duplicate',
  level: 'observe',
  says: 'nothing is said about a receiver that cannot remember',
  refs: ['phoss-ap takes a failed transaction for a duplicate (read in source)'],
  sends: 'a message while the store is down, and the same bytes when it is back',
  expects: 'where it is claimed: an answer that lets the sender retry; then a Receipt and one delivery',
  needs: ['store', 'delivery'],
  alone: true,
  claimed: ({ storeDown }) => storeDown === 'retryable',
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.store('down');
    const during = await c.send(request, { label: 'store down' });
    c.observe(`while the store was down: ${during.summary}`);
    noReceipt(during);
    if (!retryable(during)) throw new Broken(`the sender may not retry after ${during.summary}`);
    await c.store('up');
    receiptFor(await c.retry(request, { label: 'store back' }), message);
    await c.delivered(message, 1);
  },
};
