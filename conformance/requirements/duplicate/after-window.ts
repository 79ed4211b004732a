import { receiptFor } from '../../run/checks.js';
import { NotApplicable } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/window/1',
  title: 'a copy after the window',
  level: 'observe',
  says: 'nothing is said about a MessageId that comes back after the window',
  refs: ['AS4 3.2'],
  sends: 'a message, and the same bytes when 150 % of the window are over',
  expects: 'where deliver is claimed, a Receipt and a second delivery; otherwise what happens is reported',
  needs: ['delivery', 'window'],
  dependsOn: ['as4/3.2/12'],
  alone: true,
  claimed: ({ afterWindow }) => afterWindow === 'deliver',
  async run(c) {
    const window = c.target.claims.window;
    if (window === undefined) throw new NotApplicable('claims.window is not given');
    const message = c.message();
    const request = message.build();
    await c.send(request, { label: 'first copy' });
    await c.delivered(message, 1);
    await c.pass(Math.ceil(window * 1.5));
    const late = await c.send(request, { label: 'after the window' });
    if (c.target.claims.afterWindow === 'deliver') {
      receiptFor(late, message);
      await c.delivered(message, 2);
    }
    c.observe(`${late.summary}; delivered ${await c.countLater(message)} times in all`);
  },
};
