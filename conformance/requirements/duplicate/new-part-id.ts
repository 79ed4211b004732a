import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/8',
  title: 'a retry whose payload has a new Content-ID is a duplicate',
  level: 'must',
  says: 'detection relies on nothing but MessageId',
  refs: ['AS4 3.2', 'phase4 application resend'],
  sends: 'a message, then the same one rebuilt with new cid: URIs',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    await c.send(message, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(
      message.with({
        message: {
          payloads: message.plan.message.payloads.map((payload, index) => ({
            ...payload,
            contentId: `again-${index}-${payload.contentId}`,
          })),
        },
      }),
      { label: 'retry' },
    );
    c.observe(`the retry got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
