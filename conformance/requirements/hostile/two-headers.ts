import { NS } from '../../as4/names.js';
import { freshMessageId, userMessage } from '../../as4/user-message.js';
import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.1/1',
  title: 'two eb:Messaging headers are refused',
  level: 'must',
  says: 'an ebMS message has one eb:Messaging header block',
  refs: ['ebMS Core 5.2.1'],
  sends: 'a second, unsigned eb:Messaging after the first',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message();
    const second = `<eb:Messaging xmlns:eb="${NS.eb}` +
      `">${userMessage({ ...message.plan.message, messageId: freshMessageId() }, 'eb:')}</eb:Messaging>`;
    const both = message.with({ tamper: (xml) => xml.replace('</S12:Header>', `${second}</S12:Header>`) });
    noReceipt(await c.send(both));
    await c.delivered(both, 0);
  },
};
