import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { certificateOf, type Certificate } from './certificate.js';
import { bitsOf, members, readDer, TAG, writeDer, writeInteger, writeOid, writeTime } from './der.js';
import { revocationListOf, type RevocationList } from './revocation.js';

/** A private key with its certificate: what signs Receipts and decrypts messages. */
export interface Identity {
  readonly privateKey: KeyObject;
  readonly certificate: Certificate;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/**
 * Certificates of a PEM bundle, or the one of a DER file. Throws CONFIG_INVALID; `name` tells the operator which file.
 */
export function certificatesIn(bytes: Uint8Array, name: string): readonly Certificate[] {
  const blocks = [...Buffer.from(bytes).toString('latin1').matchAll(PEM_CERTIFICATE)];
  const ders = blocks.length === 0 ? [bytes] : blocks.map((m) => Buffer.from(m[1] ?? '', 'base64'));
  return ders.map((der, i) => {
    const certificate = certificateOf(der);
    if (certificate === undefined) {
      throw new As4OnceError('CONFIG_INVALID', `${name}: no X.509 certificate (number ${i + 1})`);
    }
    return certificate;
  });
}

/** A revocation list from PEM or DER. Throws CONFIG_INVALID. */
export function revocationListIn(bytes: Uint8Array, name: string): RevocationList {
  const list = revocationListOf(bytes);
  if (list === undefined) {
    throw new As4OnceError('CONFIG_INVALID', `${name}: no X.509 revocation list signed with SHA-2`);
  }
  return list;
}

/**
 * Puts a private key (PEM or DER of PKCS#8, PKCS#1) and its certificate (first of the bundle) together. Throws
 * CONFIG_INVALID where they do not belong together or the key is no RSA key. A PKCS#12 file is not read: `openssl
 * pkcs12
 * -in FILE -nodes` makes PEM of it.
 */
export function loadIdentity(key: Uint8Array, certificate: Uint8Array, name: string, passphrase?: string): Identity {
  const [first] = certificatesIn(certificate, name);
  const privateKey = privateKeyIn(key, name, passphrase);
  if (first === undefined || !first.x509.checkPrivateKey(privateKey)) {
    throw new As4OnceError('CONFIG_INVALID', `${name}: the private key is not the certificate's`);
  }
  if (privateKey.asymmetricKeyType !== 'rsa') {
    const type = privateKey.asymmetricKeyType ?? '';
    throw new As4OnceError('CONFIG_INVALID', `${name}: AS4 1.x needs an RSA key, not ${type}`);
  }
  return { privateKey, certificate: first };
}

function privateKeyIn(bytes: Uint8Array, name: string, passphrase: string | undefined): KeyObject {
  const key = Buffer.from(bytes);
  const secret = passphrase === undefined ? {} : { passphrase };
  const pem = key.includes('-----BEGIN');
  for (const type of pem ? ([undefined] as const) : (['pkcs8', 'pkcs1'] as const)) {
    try {
      return type === undefined
        ? createPrivateKey({ key, ...secret }) : createPrivateKey({ key, format: 'der', type, ...secret });
    } catch {
      // the next form; what OpenSSL says about a key file is no help to an operator
    }
  }
  const hint = passphrase === undefined ? ' without a passphrase' : ' with this passphrase';
  throw new As4OnceError('CONFIG_INVALID', `${name}: no private key that can be read${hint}`);
}

export interface SelfSignedOptions {
  /** Start of validity, epoch ms; an hour ago unless said. */
  readonly notBefore?: number;
  /** Days of validity; 3,650 unless said. */
  readonly days?: number;
  /** Modulus bits; 2,048 unless said. */
  readonly bits?: number;
  /** Signs instead of the certificate's own key. */
  readonly issuer?: Identity;
  /** Has the key of this one, which it replaces. */
  readonly renews?: Identity;
  /** May itself issue certificates. */
  readonly authority?: boolean;
}

const RSA_WITH_SHA256 = '1.2.840.113549.1.1.11';

/**
 * Makes an RSA key and a certificate for tests, the demo and a first try. Not a way to get a production certificate.
 */
export function selfSigned(commonName: string, options: SelfSignedOptions = {}): Identity {
  const privateKey = options.renews?.privateKey ?? generateKeyPairSync('rsa', { modulusLength: options.bits ?? 2_048 }).privateKey;
  const publicKey = createPublicKey(privateKey);
  const notBefore = options.notBefore ?? systemClock.now() - 3_600_000;
  const notAfter = notBefore + (options.days ?? 3_650) * 86_400_000;
  const pair = sequence(writeOid('2.5.4.3'), writeDer(TAG.utf8String, Buffer.from(commonName)));
  const subject = sequence(writeDer(TAG.set, pair));
  const algorithm = sequence(writeOid(RSA_WITH_SHA256), writeDer(TAG.null));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const own = createHash('sha1').update(bitsOf(members(readDer(spki))[1])).digest();
  const issuerKey = options.issuer === undefined
    ? own : Buffer.from(options.issuer.certificate.keyIdentifier, 'base64');
  const tbs = sequence(
    writeDer(0xa0, writeInteger(Uint8Array.of(2))),
    writeInteger(Buffer.concat([Uint8Array.of(1), randomBytes(15)])),
    algorithm,
    options.issuer?.certificate.subject.der ?? subject,
    sequence(writeTime(notBefore), writeTime(notAfter)),
    subject,
    spki,
    writeDer(0xa3, sequence(...extensions(options.authority ?? false, own, issuerKey))),
  );
  const signature = sign('sha256', tbs, options.issuer?.privateKey ?? privateKey);
  const certificate = certificateOf(sequence(tbs, algorithm, writeDer(TAG.bitString, Uint8Array.of(0), signature)));
  if (certificate === undefined) throw new As4OnceError('INTERNAL', 'a certificate of our own cannot be read');
  return { privateKey, certificate };
}

const sequence = (...members: Uint8Array[]): Uint8Array => writeDer(TAG.sequence, ...members);

/**
 * basicConstraints and keyUsage, both critical: certificate and list signing, or signature, non-repudiation and key
 * encipherment; and the key identifiers of subject and issuer.
 */
function extensions(authority: boolean, own: Uint8Array, issuer: Uint8Array): Uint8Array[] {
  const yes = writeDer(TAG.boolean, Uint8Array.of(0xff));
  const usage = writeDer(TAG.bitString, authority ? Uint8Array.of(1, 0x06) : Uint8Array.of(5, 0xe0));
  const extension = (oid: string, value: Uint8Array, ...critical: Uint8Array[]): Uint8Array =>
    sequence(writeOid(oid), ...critical, writeDer(TAG.octetString, value));
  return [
    extension('2.5.29.19', authority ? sequence(yes) : sequence(), yes),
    extension('2.5.29.15', usage, yes),
    extension('2.5.29.14', writeDer(TAG.octetString, own)),
    extension('2.5.29.35', sequence(writeDer(0x80, issuer))),
  ];
}
