import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xml/4.3.3/2',
  title: 'an envelope with broken UTF-8 is refused',
  level: 'must',
  says: 'bytes that are illegal in the declared encoding are a fatal error',
  refs: ['XML 1.0 4.3.3'],
  sends: 'an envelope in UTF-8 with a lone 0xC3 in the ConversationId',
  expects: 'no Receipt, no delivery',
  async run(c) {
    const message = c.message();
    const request = message.build();
    const body = Buffer.from(request.body);
    const at = body.indexOf('<eb:ConversationId>') + '<eb:ConversationId>'.length;
    body[at] = 0xc3;
    noReceipt(await c.send({ ...request, body }));
    await c.delivered(message, 0);
  },
};
