import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/2.1/1',
  title: 'a SOAP 1.2 message is answered in SOAP 1.2, with the media type of SOAP 1.2',
  level: 'must',
  says: 'an ebHandler speaks SOAP 1.2',
  refs: ['AS4 2.1', 'ebMS Core 5.1', 'RFC 3902'],
  sends: 'one message',
  expects: 'a SOAP 1.2 envelope as application/soap+xml, or as the root of multipart/related',
  async run(c) {
    const message = c.message();
    const answer = await c.send(message);
    receiptFor(answer, message);
    if (answer.soap !== '1.2') throw new Broken(`the answer is SOAP ${answer.soap}`);
    const essence = answer.contentType?.split(';')[0]?.trim().toLowerCase();
    if (essence !== 'application/soap+xml' && essence !== 'multipart/related')
      throw new Broken(`its Content-Type is ${answer.contentType}`);
  },
};
