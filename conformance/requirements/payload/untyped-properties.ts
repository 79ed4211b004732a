import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ta/cp-ta20/1',
  title: 'message properties without a type are accepted',
  level: 'should',
  says: 'the type attribute of a property is optional',
  refs: ['AS4_CP_TA20', 'AS4_CP_TA44'],
  sends: 'message properties without type, one of them unknown',
  expects: 'a Receipt; one delivery',
  profiles: ['edelivery', 'custom'],
  async run(c) {
    const properties = c.target.agreement.properties.map(({ name, value }) => ({ name, value }));
    const message = c.message({ message: { properties: [...properties, { name: 'as4-once-test', value: 'yes' }] } });
    receiptFor(await c.send(message), message);
    await c.delivered(message, 1);
  },
};
