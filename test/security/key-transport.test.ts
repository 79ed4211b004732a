import { constants, createHash, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HASH_OCTETS, type HashName } from '../../src/security/algorithms.js';
import { oaepDecode, pkcs1Decode, unwrapKey } from '../../src/security/key-transport.js';
import { selfSigned } from '../../src/security/keys.js';

const identity = selfSigned('receiver');
const { publicKey } = identity.certificate;
const hashes: readonly HashName[] = ['sha1', 'sha256', 'sha384', 'sha512'];

/** EME-OAEP encoding as RFC 8017 7.1.1 says, written apart from the decoding under test. */
function encode(message: Uint8Array, hash: HashName, mgf: HashName, label: Uint8Array, size = 256): Buffer {
  const mask = (seed: Buffer, length: number): Buffer => {
    let out = Buffer.alloc(0);
    for (let i = 0; out.length < length; i++) out = Buffer.concat([out, createHash(mgf).update(seed).update(Buffer.from([0, 0, i >> 8, i & 255])).digest()]);
    return out.subarray(0, length);
  };
  const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((octet, i) => octet ^ (b[i] ?? 0)));
  const octets = HASH_OCTETS[hash];
  const data = Buffer.concat([createHash(hash).update(label).digest(), Buffer.alloc(size - message.length - 2 * octets - 2), Buffer.from([1]), message]);
  const seed = randomBytes(octets);
  const masked = xor(data, mask(seed, data.length));
  return Buffer.concat([Buffer.from([0]), xor(seed, mask(masked, octets)), masked]);
}

describe('OAEP', () => {
  it('is decoded as node:crypto encodes it, where one hash serves for both', () => {
    for (const hash of hashes.slice(0, 3)) {
      for (const label of [Buffer.alloc(0), Buffer.from('label')]) {
        const key = randomBytes(32);
        const wrapped = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash, oaepLabel: label }, key);
        expect(Buffer.from(unwrapKey(wrapped, identity.privateKey, { scheme: 'oaep', hash, mgf: hash, label }, 32))).toEqual(key);
        // and by our own decoding
        const raw = paddedBlock(wrapped);
        expect(oaepDecode(raw, { hash, mgf: hash, label }, 32)).toMatchObject({ good: 1 });
        expect(Buffer.from(oaepDecode(raw, { hash, mgf: hash, label }, 32).message)).toEqual(key);
      }
    }
  });

  it.each(hashes.flatMap((hash) => hashes.map((mgf) => [hash, mgf] as const)))('label hash %s with mask hash %s', (hash, mgf) => {
    for (const octets of [16, 32]) {
      const key = randomBytes(octets);
      const label = randomBytes(octets % 5);
      const wrapped = publicEncrypt({ key: publicKey, padding: constants.RSA_NO_PADDING }, encode(key, hash, mgf, label));
      expect(Buffer.from(unwrapKey(wrapped, identity.privateKey, { scheme: 'oaep', hash, mgf, label }, octets))).toEqual(key);
    }
  });

  it('gives a random key of the right length for whatever is wrong, and never fails', () => {
    const transport = { scheme: 'oaep', hash: 'sha256', mgf: 'sha1', label: new Uint8Array() } as const;
    const right = encode(randomBytes(16), 'sha256', 'sha1', new Uint8Array());
    const wrap = (block: Buffer): Buffer => publicEncrypt({ key: publicKey, padding: constants.RSA_NO_PADDING }, block);
    for (let at = 1; at < right.length - 17; at += 5) {
      const wrong = Buffer.from(right);
      wrong[at] = (wrong[at] ?? 0) ^ 0x80;
      const found = unwrapKey(wrap(wrong), identity.privateKey, transport, 16);
      expect(found).toHaveLength(16);
      expect(found).not.toEqual(unwrapKey(wrap(wrong), identity.privateKey, transport, 16));
    }
    expect(oaepDecode(Buffer.concat([Buffer.from([1]), right.subarray(1)]), transport, 16).good).toBe(0);
    for (const octets of [0, 1, 255, 257]) expect(unwrapKey(new Uint8Array(octets), identity.privateKey, transport, 16)).toHaveLength(16);
    for (const same of ['sha1', 'sha256'] as const) {
      expect(unwrapKey(wrap(right), identity.privateKey, { ...transport, hash: same, mgf: same }, 16)).toHaveLength(16);
    }
    expect(unwrapKey(wrap(right), identity.privateKey, transport, 32)).toHaveLength(32);
  });

  it('decoding never fails on any block', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(16, 24, 32), (block, octets) => {
      const { good, message } = oaepDecode(block, { hash: 'sha256', mgf: 'sha1', label: new Uint8Array() }, octets);
      expect(good).toBe(0);
      expect(message.length).toBeLessThanOrEqual(octets);
      expect(pkcs1Decode(block, octets).message.length).toBeLessThanOrEqual(octets);
    }));
  });
});

describe('RSA-1_5', () => {
  const wrap = (key: Buffer): Buffer => publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, key);

  it('is decoded as node:crypto encodes it', () => {
    for (let i = 0; i < 20; i++) {
      const key = randomBytes(16);
      expect(Buffer.from(unwrapKey(wrap(key), identity.privateKey, { scheme: 'rsa15' }, 16))).toEqual(key);
    }
  });

  it('knows wrong paddings by one bit, not by an error', () => {
    const block = paddedBlock(wrap(randomBytes(16)));
    expect(pkcs1Decode(block, 16).good).toBe(1);
    expect(pkcs1Decode(block, 32).good).toBe(0);
    for (const [at, octet] of [[0, 1], [1, 1], [2, 0], [100, 0], [block.length - 17, 7]] as const) {
      const wrong = Buffer.from(block);
      wrong[at] = octet;
      expect(pkcs1Decode(wrong, 16).good, `octet ${at}`).toBe(0);
    }
    expect(unwrapKey(wrap(randomBytes(20)), identity.privateKey, { scheme: 'rsa15' }, 16)).toHaveLength(16);
  });
});

/** The padded block of a cipher text. */
function paddedBlock(wrapped: Buffer): Buffer {
  return privateDecrypt({ key: identity.privateKey, padding: constants.RSA_NO_PADDING }, wrapped);
}
