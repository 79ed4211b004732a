import { receiptFor, sameDigests } from '../../run/checks.js';
import type { Answer } from '../../as4/answer.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.8/6',
  title: 'twenty messages at once get twenty Receipts, each its own',
  level: 'must',
  says: 'RefToMessageId is the MessageId of the message acknowledged',
  refs: ['AS4 5.1.8', 'ebMS Core 5.2.2.1'],
  sends: 'twenty different messages over twenty connections at once',
  expects: 'each answer is a Receipt for its own message, with its own digests; one delivery of each',
  async run(c) {
    const messages = Array.from({ length: 20 }, () => c.message());
    const requests = messages.map((message) => message.build());
    const answers = await Promise.all(
      requests.map((request, index) => c.send(request, { label: `message ${index + 1}` })),
    );
    for (const [index, message] of messages.entries()) {
      const receipt = receiptFor(answers[index] as Answer, message, `the answer to message ${index + 1}`);
      const references = requests[index]?.references ?? [];
      if (references.length > 0) sameDigests(receipt, references);
    }
    for (const message of messages) await c.delivered(message, 1);
  },
};
