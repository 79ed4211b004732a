import { ebmsError } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'edelivery/1.15/1',
  title: 'a failed delivery is reported as EBMS:0202',
  level: 'should',
  says: 'a receiver that cannot complete processing should return DeliveryFailure',
  refs: ['eDelivery AS4 1.15', 'AS4 3.4'],
  sends: 'one message while the backend refuses',
  expects: 'an ebMS Error EBMS:0202',
  needs: ['backend-fail'],
  dependsOn: ['as4/3.4/2'],
  alone: true,
  async run(c) {
    await c.backend('fail');
    ebmsError(await c.send(c.message()), ['EBMS:0202']);
  },
};
