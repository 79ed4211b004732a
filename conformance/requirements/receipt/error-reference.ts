import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/6.3/1',
  title: 'an Error says which message it is about',
  level: 'should',
  says: 'RefToMessageId of a signal names the message that all its errors are about',
  refs: ['ebMS Core 6.3'],
  sends: 'a message whose payload reference leads nowhere, with a readable MessageId',
  expects: 'if an ebMS Error comes, its RefToMessageId or refToMessageInError is the MessageId',
  async run(c) {
    const message = c.message({
      plan: { tamper: (xml) => xml.replace(/href="cid:[^"]*"/, 'href="cid:nowhere@as4-once-conformance.test"') },
    });
    const answer = await c.send(message);
    const error = answer.errors[0];
    if (error === undefined) {
      c.observe(`no ebMS Error: ${answer.summary}`);
      return;
    }
    const named = error.refToMessageId ?? error.refToMessageInError;
    if (named !== message.messageId)
      throw new Broken(`the Error names ${JSON.stringify(named ?? null)} instead of ${message.messageId}`);
  },
};
