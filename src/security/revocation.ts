import { verify } from 'node:crypto';
import type { Certificate } from './certificate.js';
import { bitsOf, integerOf, members, oidOf, readDer, TAG, timeOf } from './der.js';
import { nameOf } from './distinguished-name.js';

/** A certificate revocation list (RFC 5280 5), read from a file that the operator keeps fresh. */
export interface RevocationList {
  readonly issuer: string;
  /** Epoch milliseconds; the list is not used after `nextUpdate`. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  readonly revoked: ReadonlySet<bigint>;
  /** Whether that certificate's key signed the list. */
  signedBy(issuer: Certificate): boolean;
}

const HASHES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.11': 'sha256', '1.2.840.113549.1.1.12': 'sha384', '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256', '1.2.840.10045.4.3.3': 'sha384', '1.2.840.10045.4.3.4': 'sha512',
};
const REASON_REMOVED = 8;
/** Certificates of one name whose verdict is remembered for a list. */
const ISSUERS = 16;

/** Reads a list from DER or PEM; undefined where it is neither, or signed with an algorithm that proves nothing. */
export function revocationListOf(bytes: Uint8Array): RevocationList | undefined {
  try {
    const text = Buffer.from(bytes).toString('latin1');
    const pem = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/.exec(text);
    return parse(pem === null ? bytes : Buffer.from(pem[1] ?? '', 'base64'));
  } catch {
    return undefined;
  }
}

function parse(der: Uint8Array): RevocationList | undefined {
  const [tbs, algorithm, signature] = members(readDer(der));
  const hash = HASHES[oidOf(members(algorithm)[0])];
  if (tbs === undefined || hash === undefined) return undefined;
  const fields = members(tbs);
  if (fields[0]?.tag === TAG.integer) fields.shift();
  const issuer = nameOf(fields[1]).text;
  const thisUpdate = timeOf(fields[2]);
  const times = fields[3]?.tag === TAG.utcTime || fields[3]?.tag === TAG.generalizedTime ? 1 : 0;
  const entries = fields[3 + times]?.tag === TAG.sequence ? members(fields[3 + times]) : [];
  const revoked = new Set<bigint>();
  for (const entry of entries) {
    const [serial, , extensions] = members(entry);
    if (!removed(extensions?.content)) revoked.add(integerOf(serial));
  }
  const bits = bitsOf(signature);
  // a list may be megabytes, and is asked about with every message
  const judged = new Map<string, boolean>();
  const fits = (by: Certificate): boolean => {
    const known = judged.get(by.fingerprint) ?? verify(hash, tbs.whole, by.publicKey, bits);
    if (judged.size < ISSUERS) judged.set(by.fingerprint, known);
    return known;
  };
  return {
    issuer, thisUpdate, revoked,
    nextUpdate: times === 1 ? timeOf(fields[3]) : undefined,
    signedBy: (by) => by.subject.text === issuer && fits(by),
  };
}

/** reasonCode removeFromCRL: on hold once, and no more. */
function removed(extensions: Uint8Array | undefined): boolean {
  if (extensions === undefined) return false;
  return members({ tag: TAG.sequence, content: extensions, whole: extensions }).some((e) => {
    const parts = members(e);
    const value = parts[parts.length - 1];
    return oidOf(parts[0]) === '2.5.29.21' && value?.content[2] === REASON_REMOVED;
  });
}
