import { noReceipt, receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/forged/1',
  title: 'a corrupt copy first does not keep the genuine message out',
  level: 'observe',
  says:
    'nothing is said about when an id counts as seen; taking it from what was not verified lets anybody block a ' +
    'message',
  refs: ['Holodeck B2B keeps the id (measured)', 'AS4 3.2'],
  sends: 'a copy whose header was changed after signing, then the genuine message',
  expects: 'where it is claimed: no Receipt for the forged copy; a Receipt and one delivery for the genuine one',
  needs: ['signing', 'signature-required', 'delivery'],
  dependsOn: ['as4/5.1.4/1'],
  claimed: ({ forgedFirst }) => forgedFirst === 'harmless',
  async run(c) {
    const message = c.message();
    noReceipt(
      await c.send(message.with({ tamper: (xml) => xml.replace(/(<eb:ConversationId>)/, '$1changed-') }), {
        label: 'forged copy',
      }),
      'the answer to the forged copy',
    );
    const genuine = await c.retry(message, { label: 'genuine message' });
    c.observe(`the genuine message got: ${genuine.summary}`);
    receiptFor(genuine, message, 'the answer to the genuine message');
    await c.delivered(message, 1);
  },
};
