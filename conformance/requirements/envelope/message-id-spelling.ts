import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'xml/2.4/2',
  title: 'another spelling of the same MessageId is the same MessageId',
  level: 'must',
  says: 'character references, CDATA and comments do not change the text of an element',
  refs: ['XML 1.0 2.4, 2.5, 4.1', 'ebMS Core 5.2.2.1', 'SAML comment truncation'],
  sends:
    'one message, then copies whose MessageId is written with character references, as CDATA, and with a comment ' +
    'inside',
  expects: 'one delivery',
  needs: ['delivery'],
  dependsOn: ['as4/3.2/1'],
  async run(c) {
    const message = c.message();
    const id = message.messageId;
    await c.send(message);
    await c.delivered(message, 1);
    const references = [...id].map((sign) => `&#x${(sign.codePointAt(0) ?? 0).toString(16)};`).join('');
    const spellings = {
      'character references': references,
      CDATA: `<![CDATA[${id}]]>`,
      comment: `${id.slice(0, 5)}<!-- x -->${id.slice(5)}`,
    };
    for (const [label, messageIdXml] of Object.entries(spellings)) {
      await c.send(message.with({ spelling: { messageIdXml } }), { label });
    }
    await c.delivered(message, 1);
  },
};
