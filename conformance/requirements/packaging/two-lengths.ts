import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc9112/6.3/2',
  title: 'a request with two different lengths is refused',
  level: 'must',
  says: 'differing Content-Length values are an unrecoverable error: 400 and the connection is closed',
  refs: ['RFC 9112 6.3'],
  sends: 'two Content-Length fields, the second five bytes larger',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message();
    const request = message.build();
    const length = request.body.length;
    const answer = await c.send(request, {
      dials: { rawFraming: `Content-Length: ${length}\r\nContent-Length: ${length + 5}\r\n` },
    });
    noReceipt(answer);
    await c.delivered(message, 0);
  },
};
