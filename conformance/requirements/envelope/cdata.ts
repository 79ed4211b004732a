import { freshMessageId } from '../../as4/user-message.js';
import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xml/2.4/1',
  title: 'a MessageId in CDATA is its text',
  level: 'must',
  says: 'a CDATA section is character data',
  refs: ['XML 1.0 2.7'],
  sends: '<eb:MessageId><![CDATA[…]]></eb:MessageId>',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const messageId = freshMessageId();
    const message = c.message({
      message: { messageId },
      plan: { spelling: { messageIdXml: `<![CDATA[${messageId}]]>` } },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
