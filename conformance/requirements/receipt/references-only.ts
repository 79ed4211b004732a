import { NS } from '../../as4/names.js';
import { everyElement, readXml } from '../../as4/xml.js';
import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.8/5',
  title: 'non-repudiation information uses ds:Reference, one to a part',
  level: 'must',
  says: 'each MessagePartNRInformation holds a ds:Reference; MessagePartIdentifier is not used',
  refs: ['AS4 5.1.8 (b)', 'ebBP signals schema'],
  sends: 'one signed message',
  expects: 'one ds:Reference in each MessagePartNRInformation and no MessagePartIdentifier',
  needs: ['signing'],
  dependsOn: ['as4/5.1.8/2'],
  async run(c) {
    const message = c.message();
    const answer = await c.send(message);
    receiptFor(answer, message);
    const elements = [...everyElement(readXml(answer.envelope ?? ''))];
    const parts = elements.filter((element) => element.ns === NS.ebbp && element.local === 'MessagePartNRInformation');
    if (elements.some((element) => element.ns === NS.ebbp && element.local === 'MessagePartIdentifier')) {
      throw new Broken('the Receipt uses MessagePartIdentifier');
    }
    for (const part of parts) {
      const references = [...everyElement(part)].filter(
        (element) => element.ns === NS.ds && element.local === 'Reference',
      );
      if (references.length !== 1)
        throw new Broken(`a MessagePartNRInformation holds ${references.length} ds:Reference elements`);
    }
  },
};
