import { createHash } from 'node:crypto';
import { readEnvelope } from '../ebms/envelope.js';
import { As4OnceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import { SHA256_DIGEST } from '../security/algorithms.js';
import type { Identity } from '../security/keys.js';
import { verifyEnvelope } from '../security/verify.js';
import { buildReceipt } from './build-receipt.js';

/**
 * Signs a Receipt with the configured key and has two implementations verify it that share no code: ours and the
 * independent judge. Run before a key is put in force, at start and with every reload, so that one that cannot be used, or
 * a fault in what is written, is seen before the first partner sees it. Throws CONFIG_INVALID with the certificate's own fault, or INTERNAL.
 */
export async function proveReceipts(identity: Identity, now: number): Promise<void> {
  const digest = createHash('sha256').update('self-test').digest();
  const { body } = await buildReceipt({
    soap: '1.2', messageId: 'self-test@as4-once', timestamp: new Date(now).toISOString(), refToMessageId: 'self-test',
    references: [{
      uri: 'cid:self-test', transform: 'attachmentContent', prefixes: [],
      digestMethod: SHA256_DIGEST, hash: 'sha256', digest,
    }],
  }, identity);
  const own = verifyEnvelope(readEnvelope(body, LIMITS), { trust: { anchors: [identity.certificate] }, now });
  if (!own.ok) {
    throw new As4OnceError('CONFIG_INVALID', `the signing certificate cannot sign Receipts: ${own.detail}`);
  }
  // loaded on use: a front, which signs nothing, starts without a second XML library
  const { independentlyVerify } = await import('../security/judge.js');
  const judged = independentlyVerify(body, identity.certificate.x509);
  const acknowledged = judged.signed?.acknowledged[0]?.digest === digest.toString('base64');
  if (!judged.ok || !acknowledged) {
    throw new As4OnceError('INTERNAL', `our own Receipt does not verify independently: ${judged.reason}`);
  }
}
