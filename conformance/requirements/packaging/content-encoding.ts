import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc9110/8.4/1',
  title: 'a request with Content-Encoding: gzip',
  level: 'observe',
  says: 'a server may accept content codings or refuse them with 415',
  refs: ['RFC 9110 8.4', 'Holodeck B2B wire habit'],
  sends: 'the whole body coded with gzip',
  expects: 'a Receipt where this is claimed; otherwise what comes is reported',
  claimed: ({ contentEncoding }) => contentEncoding === 'accept',
  async run(c) {
    const message = c.message();
    const answer = await c.send(message, { dials: { contentEncoding: 'gzip' } });
    c.observe(answer.summary);
    if (c.target.claims.contentEncoding === 'accept') receiptFor(answer, message);
    if (answer.what === 'receipt') await c.delivered(message, 1);
  },
};
