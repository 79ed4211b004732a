import { gzipSync } from 'node:zlib';
import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.1/1',
  title: 'a gzip payload whose end is missing is refused',
  level: 'must',
  says: 'a payload that cannot be decompressed is a failure of the message',
  refs: ['AS4 3.1', 'AS4_CP_TA31', 'RFC 1952'],
  sends: 'a gzip payload cut in its middle, signed as it is',
  expects: 'no Receipt, no delivery',
  needs: ['compressed'],
  async run(c) {
    const message = c.message({ bytes: 2_000, plan: { compressor: (content) => gzipSync(content).subarray(0, -20) } });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
