import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/forged/5',
  title: 'a copy with the genuine header and another payload',
  level: 'observe',
  says: 'the digests of the header are those of the accepted message; only decrypting the payload shows that it is not',
  refs: ['AS4 5.1.5'],
  sends: 'a message, then the same envelope with one byte of the payload part flipped',
  expects:
    'reported: a Receipt for the first message proves nothing about the changed payload, which must not be delivered',
  needs: ['signing', 'delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'genuine message' });
    await c.delivered(message, 1);
    const body = Buffer.from(request.body);
    const middle = Math.floor((request.rootEnd + request.closingStart) / 2);
    body[middle] = (body[middle] ?? 0) ^ 0x01;
    const answer = await c.send({ ...request, body }, { label: 'other payload' });
    c.observe(`the changed copy got: ${answer.summary}`);
    await c.delivered(message, 1);
  },
};
