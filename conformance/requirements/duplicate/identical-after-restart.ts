import { identical } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/replay/4',
  title: 'after a restart a duplicate still gets the first Receipt',
  level: 'observe',
  says: 'ebMS 2.0 looks in persistent storage for the first response',
  refs: ['ebMS 2.0 6.5.5'],
  sends: 'a message, a restart of the target, the same bytes',
  expects: 'where identical answers are claimed: the bytes of the first answer',
  needs: ['restart'],
  dependsOn: ['once/replay/2', 'as4/3.2/10'],
  alone: true,
  claimed: ({ duplicate }) => duplicate === 'identical',
  async run(c) {
    const message = c.message();
    const request = message.build();
    const first = await c.send(request, { label: 'before the restart' });
    await c.restart('restart');
    const after = await c.retry(request, { label: 'after the restart' });
    c.observe(after.body.equals(first.body) ? 'the same bytes' : `the copy after the restart got: ${after.summary}`);
    identical(first, after, 'the answer after the restart');
  },
};
