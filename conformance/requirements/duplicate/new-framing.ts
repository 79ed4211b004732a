import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/6',
  title: 'a retry with another HTTP framing is a duplicate',
  level: 'must',
  says: 'transfer coding is no part of the message',
  refs: ['AS4 3.2', 'RFC 9112 6'],
  sends: 'a message with Content-Length, then the same bytes chunked',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(request, { label: 'retry', dials: { chunked: 4_096 } });
    c.observe(`the retry got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
