import { ebmsError } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.4/2',
  title: 'a signature that does not verify is reported as EBMS:0101',
  level: 'should',
  says: 'FailedAuthentication is the error for a signature that cannot be validated',
  refs: ['ebMS Core 6.7.2', 'AS4.NET 8.4.5'],
  sends: 'a signed message with another ConversationId written in afterwards',
  expects: 'an ebMS Error EBMS:0101',
  needs: ['signing', 'signature-required'],
  dependsOn: ['as4/5.1.4/1'],
  async run(c) {
    const message = c.message({ plan: { tamper: (xml) => xml.replace(/(<eb:ConversationId>)/, '$1changed-') } });
    ebmsError(await c.send(message), ['EBMS:0101']);
  },
};
