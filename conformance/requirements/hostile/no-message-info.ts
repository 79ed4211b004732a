import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.2.1/6',
  title: 'a UserMessage without MessageInfo is refused',
  level: 'must',
  says: 'MessageInfo is a required element',
  refs: ['ebMS Core 5.2.2.1', 'ebMS header schema'],
  sends: 'a UserMessage without eb:MessageInfo, signed so',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message({
      plan: { spelling: { shape: (xml) => xml.replace(/<eb:MessageInfo>[^]*<\/eb:MessageInfo>/, '') } },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
