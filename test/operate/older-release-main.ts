/** A process of the release before this one, as far as the ledger can tell: it knows the older format and no other. */
import { As4OnceError } from '../../src/errors.js';
import { pretendFormats } from '../../src/ledger/codec.js';
import { openTestLedger } from './open-test-ledger.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/sample.js';
import { OLDER } from './older-format.js';

const [where = '', ...words] = process.argv.slice(2);
pretendFormats([OLDER]);
try {
  const ledger = await openTestLedger(where);
  for (const word of words) {
    const [what, name = ''] = word.split(':');
    const claim = sampleClaim(sampleKey(name), `older ${word}`);
    if (what === 'accept') {
      const { kind } = await ledger.claim(claim);
      if (kind === 'claimed') await ledger.settle(sampleAttempt(claim).settle(name));
      process.stdout.write(`${word} ${kind}\n`);
    } else {
      const { kind, record } = await ledger.claim(claim);
      process.stdout.write(`${word} ${kind} ${record.reply?.receiptId ?? '-'}\n`);
    }
  }
  await ledger.close();
} catch (error) {
  process.stdout.write(`refused ${error instanceof As4OnceError ? error.code : String(error)}\n`);
}
