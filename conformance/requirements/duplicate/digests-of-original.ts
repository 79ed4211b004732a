import { payloadDigests } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/3.2/13',
  title: 'a Receipt for a retry acknowledges the same payload digests',
  level: 'must',
  says: 'the digests in the Receipts for an original and for its retry do not differ',
  refs: ['AS4 3.2, message retry'],
  sends: 'a message, and the same one built again',
  expects: 'if the retry gets a Receipt: the payload digests of the first one',
  needs: ['signing'],
  dependsOn: ['as4/5.1.8/3'],
  async run(c) {
    const message = c.message();
    const first = await c.send(message, { label: 'first copy' });
    const retry = await c.send(message, { label: 'signed anew' });
    if (retry.receipt === undefined) {
      c.observe(`the retry got no Receipt: ${retry.summary}`);
      return;
    }
    const [one, two] = [payloadDigests(first.receipt?.references), payloadDigests(retry.receipt.references)];
    if (one !== two) throw new Broken(`the first Receipt acknowledges ${one}, the second ${two}`);
  },
};
