import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.4/1',
  title: 'a message whose header was changed after signing is refused',
  level: 'must',
  says: 'the whole eb:Messaging header is signed; what does not verify is not accepted',
  refs: ['AS4 5.1.4', 'phase4 UserMessageFailureForgeryTest', 'AS4.NET 8.4.5'],
  sends: 'a signed message with another ConversationId written in afterwards',
  expects: 'no Receipt, no delivery',
  needs: ['signing', 'signature-required'],
  async run(c) {
    const message = c.message({ plan: { tamper: (xml) => xml.replace(/(<eb:ConversationId>)/, '$1changed-') } });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
