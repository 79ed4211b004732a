import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/7',
  title: 'a retry with a new Timestamp is a duplicate',
  level: 'must',
  says: 'detection relies on nothing but MessageId',
  refs: ['AS4 3.2', 'ebMS Core 8.2.2', 'phase4 application resend'],
  sends: 'a message, then the same one rebuilt with a later eb:Timestamp',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    await c.send(message, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(message.with({ message: { timestamp: new Date(Date.now() + 1_000).toISOString() } }), {
      label: 'retry',
    });
    c.observe(`the retry got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
