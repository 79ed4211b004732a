import { verifyEnvelope } from '../../as4/verify.js';
import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.8/4',
  title: 'the signature of the Receipt verifies',
  level: 'must',
  says: 'a Receipt is signed by the party that acknowledges',
  refs: ['AS4 5.1.8', 'AS4 5.1.4'],
  sends: 'one signed message',
  expects: "a signature over eb:Messaging and the Body that verifies under the receiver's certificate",
  needs: ['signing'],
  dependsOn: ['as4/5.1.8/2'],
  async run(c) {
    const message = c.message();
    const answer = await c.send(message);
    receiptFor(answer, message);
    let signer;
    try {
      signer = verifyEnvelope(answer.envelope ?? Buffer.alloc(0)).certificate;
    } catch (error) {
      throw new Broken(
        `the signature of the Receipt does not verify: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    const expected = c.target.receiptSigner;
    if (expected !== undefined && !signer.raw.equals(expected.raw)) {
      throw new Broken(
        `the Receipt is signed by ${signer.subject.replaceAll('\n', ', ')}, serial ${signer.serialNumber}, not by ` +
        `the receiver's certificate`,
      );
    }
    await c.delivered(message, 1);
  },
};
