import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/3',
  title: 'a retry that was signed anew is a duplicate',
  level: 'must',
  says: 'a retry keeps its MessageId; wsu:Ids and signature may be new',
  refs: ['AS4 3.2', 'Holodeck B2B signs each retry anew'],
  sends: 'a message, then the same one built again: new wsu:Ids, signature, keys and boundary',
  expects: 'one delivery',
  needs: ['delivery', 'signing'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    await c.send(message, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(message, { label: 'retry' });
    c.observe(`the retry got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
