import { withNewBoundary } from '../../run/draft.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/5',
  title: 'a retry between other boundary lines is a duplicate',
  level: 'must',
  says: 'MIME framing is no part of the message',
  refs: ['AS4 3.2', 'RFC 2046 5.1.1'],
  sends: 'a message, then the same parts with another boundary',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(withNewBoundary(request), { label: 'retry' });
    c.observe(`the retry got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
