import { ebmsError } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta26/1',
  title: 'a compressed payload without its MimeType property is refused',
  level: 'should',
  says: 'MimeType is required where CompressionType is given; its absence leads to a synchronous error',
  refs: ['AS4_CP_TA26', 'AS4 3.1', 'AS4.NET 8.4.3'],
  sends: 'a compressed payload whose PartProperties lack MimeType, signed so',
  expects: 'an ebMS Error, no delivery',
  needs: ['compressed'],
  async run(c) {
    const message = c.message({
      plan: { spelling: { shape: (xml) => xml.replace(/<eb:Property name="MimeType">[^<]*<\/eb:Property>/, '') } },
    });
    ebmsError(await c.send(message));
    await c.delivered(message, 0);
  },
};
