import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc9112/6.3/3',
  title: 'a request with a length and chunked coding is handled as an error',
  level: 'should',
  says: 'both at once may be an attempt at request smuggling and ought to be handled as an error',
  refs: ['RFC 9112 6.3'],
  sends: 'Content-Length: 10 together with Transfer-Encoding: chunked',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message();
    const answer = await c.send(message, {
      dials: { chunked: 1_000, rawFraming: 'Content-Length: 10\r\nTransfer-Encoding: chunked\r\n' },
    });
    noReceipt(answer);
    await c.delivered(message, 0);
  },
};
