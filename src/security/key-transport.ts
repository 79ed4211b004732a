import { constants, createHash, privateDecrypt, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import { HASH_OCTETS, type HashName } from './algorithms.js';

/** How a session key is wrapped for an RSA key (XML Encryption 1.1, 5.5). */
export type KeyTransport =
  | { readonly scheme: 'oaep'; readonly hash: HashName; readonly mgf: HashName; readonly label: Uint8Array }
  | { readonly scheme: 'rsa15' };

/**
 * Unwraps a session key of `octets` octets. A wrong padding gives a random key instead of an error: what follows then
 * fails like any other wrong key does, so that nobody learns from the answer why (the padding attacks of Bleichenbacher
 * and Manger need to).
 */
export function unwrapKey(wrapped: Uint8Array, key: KeyObject, transport: KeyTransport, octets: number): Uint8Array {
  const substitute = randomBytes(octets);
  try {
    if (transport.scheme === 'oaep' && transport.hash === transport.mgf) {
      const opened = privateDecrypt({
        key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: transport.hash,
        ...(transport.label.length === 0 ? {} : { oaepLabel: transport.label }),
      }, wrapped);
      return opened.length === octets ? opened : substitute;
    }
    const encoded = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, wrapped);
    const opened = transport.scheme === 'oaep' ? oaepDecode(encoded, transport, octets) : pkcs1Decode(encoded, octets);
    return choose(opened.good, opened.message, substitute);
  } catch {
    return substitute;
  }
}

interface Decoded {
  /** 1 where the padding was right, 0 where not. */
  readonly good: number;
  readonly message: Uint8Array;
}

/**
 * EME-OAEP decoding (RFC 8017, 7.1.2) for the case that node:crypto has no option for: a hash for the label and
 * another for the mask. The message length is known, so the padding has one right value, and no step depends on where
 * it goes wrong.
 */
export function oaepDecode(
  encoded: Uint8Array,
  scheme: { readonly hash: HashName; readonly mgf: HashName; readonly label: Uint8Array },
  octets: number,
): Decoded {
  const size = HASH_OCTETS[scheme.hash];
  const block = encoded.subarray(1 + size);
  const padding = block.length - size - 1 - octets;
  if (padding < 0) return { good: 0, message: new Uint8Array(octets) };
  const seed = xor(encoded.subarray(1, 1 + size), mgf1(block, size, scheme.mgf));
  const data = xor(block, mgf1(seed, block.length, scheme.mgf));
  const wanted = Buffer.concat([
    Uint8Array.of(0), createHash(scheme.hash).update(scheme.label).digest(), new Uint8Array(padding), Uint8Array.of(1),
  ]);
  const found = Buffer.concat([encoded.subarray(0, 1), data.subarray(0, data.length - octets)]);
  return { good: Number(timingSafeEqual(found, wanted)), message: data.subarray(data.length - octets) };
}

/** EME-PKCS1-v1_5 decoding (RFC 8017, 7.2.2) for a known message length, without a branch on the bytes. */
export function pkcs1Decode(encoded: Uint8Array, octets: number): Decoded {
  const separator = encoded.length - octets - 1;
  if (separator < 10) return { good: 0, message: new Uint8Array(octets) };
  let wrong = (encoded[0] ?? 1) | ((encoded[1] ?? 0) ^ 2) | (encoded[separator] ?? 1);
  for (let i = 2; i < separator; i++) wrong |= isZero(encoded[i] ?? 0);
  return { good: isZero(wrong), message: encoded.subarray(separator + 1) };
}

/** 1 for 0, 0 for 1 to 255. */
const isZero = (octet: number): number => ((octet - 1) >>> 8) & 1;

function mgf1(seed: Uint8Array, length: number, hash: HashName): Uint8Array {
  const blocks: Uint8Array[] = [];
  const counter = Buffer.alloc(4);
  for (let i = 0; i * HASH_OCTETS[hash] < length; i++) {
    counter.writeUInt32BE(i);
    blocks.push(createHash(hash).update(seed).update(counter).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((octet, i) => octet ^ (b[i] ?? 0));
}

/** `a` where good is 1, `b` where it is 0, octet by octet without a branch. */
function choose(good: number, a: Uint8Array, b: Uint8Array): Uint8Array {
  const mask = -good & 0xff;
  return b.map((octet, i) => (octet & ~mask) | ((a[i] ?? 0) & mask));
}
