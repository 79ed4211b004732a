import { sign } from 'node:crypto';
import { TAG, writeDer, writeInteger, writeOid, writeTime } from '../../src/security/der.js';
import type { Identity } from '../../src/security/keys.js';

/** A revocation list as an authority would publish it. */
export function revocationList(issuer: Identity, serials: readonly bigint[], nextUpdate: number | undefined, thisUpdate = Date.UTC(2026, 0, 1)): Uint8Array {
  const sequence = (...m: Uint8Array[]): Uint8Array => writeDer(TAG.sequence, ...m);
  const algorithm = sequence(writeOid('1.2.840.113549.1.1.11'), writeDer(TAG.null));
  const hex = (n: bigint): Uint8Array => Buffer.from(n.toString(16).padStart(40, '0'), 'hex');
  const entries = serials.map((n) => sequence(writeInteger(hex(n)), writeTime(thisUpdate)));
  const tbs = sequence(writeInteger(Uint8Array.of(1)), algorithm, issuer.certificate.subject.der, writeTime(thisUpdate),
    ...(nextUpdate === undefined ? [] : [writeTime(nextUpdate)]), ...(entries.length === 0 ? [] : [sequence(...entries)]));
  return sequence(tbs, algorithm, writeDer(TAG.bitString, Uint8Array.of(0), sign('sha256', tbs, issuer.privateKey)));
}
