import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2045/5.1/5',
  title: 'an unquoted boundary ends at the semicolon',
  level: 'must',
  says: 'a parameter value without special characters may be written without quotes',
  refs: ['RFC 2045 5.1', 'webmachine issue 3'],
  sends: 'boundary=abc; type=…',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: {
        mime: {
          boundary: 'as4once0123456789abcdef',
          contentType: (value) => value.replace(/boundary="([^"]+)"/, 'boundary=$1'),
        },
      },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
