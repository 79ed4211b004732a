import type { Requirement } from '../../run/requirement.js';
import { NotApplicable } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/12',
  title: 'a duplicate is recognised until its window ends',
  level: 'must',
  says: 'the check window is a guaranteed minimum',
  refs: ['AS4 3.2: checkwindow=7D', 'phase4 UserMessageDuplicateTest'],
  sends: 'a message, and the same bytes when 70 % of the window are over',
  expects: 'one delivery',
  needs: ['delivery', 'window'],
  dependsOn: ['as4/3.2/1'],
  alone: true,
  async run(c) {
    const window = c.target.claims.window;
    if (window === undefined) throw new NotApplicable('claims.window is not given');
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    await c.pass(Math.floor(window * 0.7));
    await c.send(request, { label: 'late in the window' });
    await c.delivered(message, 1);
  },
};
