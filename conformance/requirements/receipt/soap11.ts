import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.1/1',
  title: 'a SOAP 1.1 message is answered in SOAP 1.1',
  level: 'must',
  says: 'the Messaging header is defined for SOAP 1.1 and SOAP 1.2',
  refs: ['ebMS Core 5.1', 'WS-I Basic Profile'],
  sends: 'one message in SOAP 1.1, signed as usual',
  expects: 'a Receipt in SOAP 1.1; one delivery',
  needs: ['soap11'],
  async run(c) {
    const message = c.message({ plan: { spelling: { soap: '1.1', soapPrefix: 'soapenv' } } });
    const answer = await c.send(message);
    receiptFor(answer, message);
    if (answer.soap !== '1.1') throw new Broken(`the answer is SOAP ${answer.soap}`);
    await c.delivered(message, 1);
  },
};
