import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/1',
  title: 'the same request again is not delivered again',
  level: 'must',
  says: 'duplicates are detected by MessageId and eliminated',
  refs: ['AS4 3.2', 'AS4_CP_TA10', 'eSENS_TA11', 'AS4.NET 8.3.15', 'Holodeck DetectDuplicateUserMessagesTest'],
  sends: 'the same bytes twice, the second after the first was answered',
  expects: 'one delivery',
  needs: ['delivery'],
  async run(c) {
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    await c.delivered(message, 1);
    const second = await c.send(request, { label: 'second copy' });
    c.observe(`the second copy got: ${second.summary}`);
    await c.delivered(message, 1);
  },
};
