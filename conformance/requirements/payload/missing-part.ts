import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.1.5/1',
  title: 'a reference to a part that is not there is refused',
  level: 'must',
  says: 'every PartInfo with a cid: reference has its MIME part',
  refs: ['ebMS Core 5.1.5, 6.7.1 EBMS:0007', 'phase4 UserMessageFailureForgeryTest'],
  sends: 'a PartInfo whose cid: names no part, signed so',
  expects: 'no Receipt, no delivery',
  needs: ['compressed'],
  async run(c) {
    const message = c.message({
      plan: {
        spelling: { shape: (xml) => xml.replace(/href="cid:[^"]*"/, 'href="cid:nowhere@as4-once-conformance.test"') },
      },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
