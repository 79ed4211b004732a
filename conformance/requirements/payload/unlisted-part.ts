import { randomBytes } from 'node:crypto';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.1.5/2',
  title: 'a part that PayloadInfo does not list is not processed',
  level: 'must',
  says: 'application data that PayloadInfo does not list is not processed',
  refs: ['ebMS Core 5.1.5', 'phase4 UserMessageFailureForgeryTest'],
  sends: 'a message with one more part, which nothing in the header refers to',
  expects: 'the extra part is not delivered',
  needs: ['delivery'],
  async run(c) {
    const extra = `as4c-${randomBytes(12).toString('hex')}`;
    const message = c.message({
      plan: {
        tamperParts: (parts) => [
          ...parts,
          {
            contentId: `extra-${extra}@as4-once-conformance.test`,
            mediaType: 'application/octet-stream',
            bytes: Buffer.from(`unlisted ${extra}`),
          },
        ],
      },
    });
    const answer = await c.send(message);
    c.observe(`the answer is: ${answer.summary}`);
    await c.sleep(c.target.times.quiet);
    const count = await c.countToken(extra);
    if (count !== undefined && count > 0) throw new Broken('the part that is not listed was delivered');
  },
};
