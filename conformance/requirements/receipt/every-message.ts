import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.4/1',
  title: 'every message that got a Receipt was processed',
  level: 'must',
  says: 'a Receipt says that the message was received and that no operation of the receiver on it failed',
  refs: ['AS4 3.4', 'AS4_CP_TA04'],
  sends: 'twelve messages, four at a time',
  expects: 'a Receipt for each, and one delivery of each',
  needs: ['delivery'],
  async run(c) {
    for (let round = 0; round < 3; round += 1) {
      const messages = Array.from({ length: 4 }, () => c.message());
      const answers = await Promise.all(messages.map((message) => c.send(message)));
      for (const [index, message] of messages.entries())
        receiptFor(answers[index]!, message, `the answer to message ${index + 1}`);
      for (const message of messages) await c.delivered(message, 1);
    }
  },
};
