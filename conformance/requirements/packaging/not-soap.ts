import { noReceipt } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.1/3',
  title: 'what is neither SOAP nor MIME is refused',
  level: 'should',
  says: 'an ebMS message is a SOAP envelope, alone or in a multipart/related package',
  refs: ['ebMS Core 5.1'],
  sends: 'text/plain',
  expects: 'an HTTP status from 400 on, or an ebMS Error; no Receipt',
  async run(c) {
    const message = c.message();
    const answer = await c.send(
      { ...message.build(), body: Buffer.from('good morning', 'utf8') },
      { contentType: 'text/plain' },
    );
    noReceipt(answer);
    if (answer.what !== 'error' && answer.what !== 'fault' && (answer.status ?? 500) < 400)
      throw new Broken(`the answer is ${answer.summary}`);
  },
};
