import { ebmsError } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta08/1',
  title: 'a payload outside the message is refused with an ebMS Error',
  level: 'must',
  says: 'external payloads are not supported and lead to a synchronous error',
  refs: ['AS4_CP_TA08', 'ebMS Core 6.7.1 EBMS:0011', 'AS4.NET 8.4.2'],
  sends: 'a PartInfo whose href is an http address, signed so',
  expects: 'an ebMS Error, no delivery',
  needs: ['compressed'],
  async run(c) {
    const message = c.message({
      plan: { spelling: { shape: (xml) => xml.replace(/href="cid:[^"]*"/, 'href="http://127.0.0.1:9/payload.xml"') } },
    });
    ebmsError(await c.send(message));
    await c.delivered(message, 0);
  },
};
