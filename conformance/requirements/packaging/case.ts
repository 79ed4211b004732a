import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'rfc2045/5.1/1',
  title: 'names in MIME headers are read in any case',
  level: 'must',
  says: 'type, subtype, parameter names and header field names are not case sensitive',
  refs: ['RFC 2045 5.1', 'RFC 5322 1.2.2'],
  sends: 'CONTENT-TYPE: Application/SOAP+XML and MULTIPART/Related; BOUNDARY=',
  expects: 'a Receipt for it; one delivery',
  async run(c) {
    const message = c.message({
      plan: {
        mime: {
          headers: (lines) =>
            lines.map((line) =>
              line
                .replace(/^[^:]+/, (name) => name.toUpperCase())
                .replace('application/soap+xml', 'Application/SOAP+XML'),
            ),
          contentType: (value) =>
            value
              .replace('multipart/related', 'MULTIPART/Related')
              .replace('boundary=', 'BOUNDARY=')
              .replace('start=', 'Start='),
        },
      },
    });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
