import { noReceipt } from '../../run/checks.js';
import { freshMessageId } from '../../as4/user-message.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.4/4',
  title: 'a signed header that was moved aside does not vouch for the one in its place',
  level: 'must',
  says: 'the signature covers the eb:Messaging header that is processed',
  refs: ['AS4 5.1.4', 'XML signature wrapping', 'xml-crypto alone accepts it (measured)'],
  sends: 'the signed eb:Messaging inside a wrapper element, and an unsigned one with another MessageId in its place',
  expects: 'no Receipt, no delivery',
  needs: ['signing', 'signature-required'],
  async run(c) {
    const message = c.message({
      plan: {
        tamper: (xml) =>
          xml.replace(/<eb:Messaging [^]*<\/eb:Messaging>/, (signed) => {
            const forged = signed
              .replace(/ wsu:Id="[^"]*"/, ' wsu:Id="forged"')
              .replace(/<eb:MessageId>[^<]*</, `<eb:MessageId>${freshMessageId()}<`);
            return `${forged}<w:Wrapper xmlns:w="urn:as4-once:wrapper">${signed}</w:Wrapper>`;
          }),
      },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
