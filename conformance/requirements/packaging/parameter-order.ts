import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2045/5.1/3',
  title: 'parameters of Content-Type may come in any order',
  level: 'must',
  says: 'the order of parameters has no meaning',
  refs: ['RFC 2045 5.1'],
  sends: 'type, start, then boundary',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: {
        mime: {
          contentType: (value) => {
            const [media, ...parameters] = value.split('; ');
            return [media, ...parameters.toReversed()].join('; ');
          },
        },
      },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
