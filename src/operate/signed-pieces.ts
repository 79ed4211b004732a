import { X509Certificate } from 'node:crypto';
import { readAnswer } from '../ebms/answer.js';
import { LIMITS } from '../limits.js';
import { readSignature, type ReadSignature } from '../security/signature.js';
import { canonicalize } from '../xml/canonical.js';
import type { ZipEntry } from './zip.js';

/** References of a Receipt: eb:Messaging, Body, and attachments if somebody sends such a thing. */
const MOST = 64;

/**
 * A signature taken apart into what `openssl` and `sha256sum` can check: the exact bytes that were signed and hashed,
 * the signature as octets, and the signer's certificate. Empty where there is no signature that can be read.
 */
export function signedPieces(contentType: string, body: Uint8Array): readonly ZipEntry[] {
  const envelope = readAnswer(contentType, body, LIMITS);
  const [signature] = envelope?.signatures ?? [];
  if (envelope === undefined || signature === undefined) return [];
  const read = readSignature(signature.element, MOST);
  if ('ok' in read) return [];
  const parts = elementsOf(read).flatMap(({ uri, prefixes, hash, digest }) => {
    const element = envelope.document.ids.get(uri.slice(1));
    if (element === undefined) return [];
    const text = canonicalize(element, { inclusivePrefixes: prefixes });
    return [
      {
        name: `signature/${element.local}.xml`,
        bytes: Buffer.from(text),
        expected: `${hash}  ${Buffer.from(digest).toString('base64')}  signature/${element.local}.xml  ${uri}`,
      },
    ];
  });
  const signedInfo = canonicalize(read.signedInfo, { inclusivePrefixes: read.prefixes });
  return [
    { name: 'signature/SignedInfo.xml', bytes: Buffer.from(signedInfo) },
    { name: 'signature/value.bin', bytes: read.value },
    { name: 'signature/hash.txt', bytes: Buffer.from(`${read.hash}\n`) },
    { name: 'signature/digests.txt', bytes: Buffer.from(`${parts.map(({ expected }) => expected).join('\n')}\n`) },
    ...parts.map(({ name, bytes }) => ({ name, bytes })),
    ...certificate(signature.certificate),
  ];
}

const elementsOf = ({ references }: ReadSignature): ReadSignature['references'] =>
  references.filter(({ transform, uri }) => transform === 'exclusive' && uri.startsWith('#'));

function certificate(der: Uint8Array | undefined): readonly ZipEntry[] {
  if (der === undefined) return [];
  try {
    return [{ name: 'signature/signer.pem', bytes: Buffer.from(new X509Certificate(der).toString()) }];
  } catch {
    return [];
  }
}
