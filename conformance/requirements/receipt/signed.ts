import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.8/2',
  title: 'a signed message is answered with a signed Receipt',
  level: 'must',
  says: 'a signed UserMessage has to be answered by a signed Receipt with non-repudiation information',
  refs: ['AS4 5.1.8 (c)', 'AS4_CP_TA01'],
  sends: 'one signed message',
  expects: 'a Receipt with ds:Signature and ebbp:NonRepudiationInformation',
  needs: ['signing'],
  async run(c) {
    const message = c.message();
    const receipt = receiptFor(await c.send(message), message);
    if (!receipt.signed) throw new Broken('the Receipt is not signed');
    if (receipt.references === undefined) throw new Broken('the Receipt has no ebbp:NonRepudiationInformation');
    await c.delivered(message, 1);
  },
};
