import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.4/5',
  title: 'two elements with the signed Id are refused',
  level: 'must',
  says: 'the header is referred to by its id, which is unique in the envelope',
  refs: ['AS4 5.1.4', 'WS-Security 1.1, 4.2: wsu:Id is an xsd:ID'],
  sends: 'another header element with the wsu:Id of eb:Messaging, put in after signing',
  expects: 'no Receipt, no delivery',
  needs: ['signing', 'signature-required'],
  async run(c) {
    const message = c.message({
      plan: {
        tamper: (xml) => {
          const id = /<eb:Messaging [^>]*wsu:Id="([^"]*)"/.exec(xml)?.[1] ?? '';
          return xml.replace('</S12:Header>', `<x:Extra xmlns:x="urn:as4-once:extra" wsu:Id="${id}"/></S12:Header>`);
        },
      },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
