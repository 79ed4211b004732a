import { ebmsError } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta30/1',
  title: 'a payload that cannot be decompressed is refused with EBMS:0303',
  level: 'must',
  says: 'DecompressionFailure of severity failure is returned',
  refs: ['AS4_CP_TA30', 'AS4 3.1, 3.6', 'AS4.NET 8.4.4'],
  sends: 'a payload declared as gzip that is none, signed as it is',
  expects: 'an ebMS Error EBMS:0303, no delivery',
  needs: ['compressed'],
  async run(c) {
    const message = c.message({
      plan: { compressor: (content) => Buffer.concat([Buffer.from('not gzip: '), content]) },
    });
    ebmsError(await c.send(message), ['EBMS:0303']);
    await c.delivered(message, 0);
  },
};
