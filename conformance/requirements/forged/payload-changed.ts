import { noReceipt } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'as4/5.1.5/1',
  title: 'a payload that was changed after signing is refused',
  level: 'must',
  says: 'every payload part is signed; what does not verify is not accepted',
  refs: ['AS4 5.1.5', 'phase4 UserMessageFailureForgeryTest', 'Holodeck B2B tampered payload (recorded)'],
  sends: 'a signed message with one byte of its payload part flipped',
  expects: 'no Receipt, no delivery',
  needs: ['signing', 'signature-required'],
  async run(c) {
    const message = c.message({
      plan: {
        tamperParts: (parts) =>
          parts.map((part) => {
            const bytes = Buffer.from(part.bytes);
            const middle = Math.floor(bytes.length / 2);
            bytes[middle] = (bytes[middle] ?? 0) ^ 0x01;
            return { ...part, bytes };
          }),
      },
    });
    noReceipt(await c.send(message));
    await c.delivered(message, 0);
  },
};
