import { readFileSync } from 'node:fs';
import { As4OnceError } from '../errors.js';
import { RSA_SHA1, SHA1_DIGEST, STRICT, type AlgorithmPolicy } from '../security/algorithms.js';
import type { Certificate } from '../security/certificate.js';
import { certificatesIn, loadIdentity, revocationListIn, type Identity } from '../security/keys.js';
import type { RevocationList } from '../security/revocation.js';
import type { SecurityPMode } from '../security/open-message.js';
import { securityProfile, type ProfileName } from '../security/profiles.js';
import type { Trust } from '../security/trust.js';
import type { Assembled, Config } from './config.js';
import type { Path } from './problem.js';
import type { KeyInput, SecurityInput } from './security-schema.js';

/** The files that the security part of a configuration names, read. @throws As4OnceError CONFIG_INVALID naming the file. */

/** Our own keys: what decrypts, and the one that signs (the last that may). */
export interface EndpointKeys {
  readonly signing: Identity;
  readonly decrypting: readonly Identity[];
}

/** Undefined where the configuration has no keys, as in role front. */
export function endpointKeys(config: Config): EndpointKeys | undefined {
  const keys = config.endpoint?.keys;
  if (keys === undefined) return undefined;
  const loaded = keys.map((key) => ({ use: key.use ?? BOTH, identity: identityOf(key) }));
  const signing = loaded[signingIndex(keys)]?.identity;
  if (signing === undefined) throw new As4OnceError('CONFIG_INVALID', 'endpoint.keys: none of them signs; a Receipt needs one');
  return { signing, decrypting: loaded.filter(({ use }) => use.includes('decrypt')).map(({ identity }) => identity) };
}

/** What a key is for that does not say. */
export const BOTH = ['sign', 'decrypt'] as const;

/** Which of the keys signs: the last that may; -1 where none may. */
export function signingIndex(keys: readonly KeyInput[]): number {
  return keys.findLastIndex(({ use = BOTH }) => use.includes('sign'));
}

export function identityOf({ certificate, key, passphrase }: KeyInput): Identity {
  return loadIdentity(bytesOf(key), bytesOf(certificate), key, passphrase);
}

export function trustOf({ trust = [], crl = [], clockSkew }: SecurityInput): Trust {
  return {
    anchors: certificateFilesOf(trust),
    revocation: crl.map(crlOf),
    ...(clockSkew === undefined ? {} : { skewMs: clockSkew }),
  };
}

export function crlOf(file: string): RevocationList {
  return revocationListIn(bytesOf(file), file);
}

/** One of the files that signatures are judged by, and the field that names it. */
export interface SecurityFile {
  readonly kind: 'trust' | 'crl' | 'certificates';
  readonly file: string;
  readonly at: Path;
}

/** Each field once, however many routes a partner of the file belongs to. */
export function securityFiles({ config, partners }: Assembled): readonly SecurityFile[] {
  const own = new Map(partners.flat().map(({ security, at }) => [at.join('.'), { given: security, at: [...at, 'security'] }]));
  return [{ given: config.security, at: ['security'] }, ...own.values()].flatMap(({ given, at }) =>
    (['trust', 'crl', 'certificates'] as const).flatMap((kind) =>
      (given?.[kind] ?? []).map((file, i) => ({ kind, file, at: [...at, kind, i] }))));
}

export function certificateFilesOf(files: readonly string[]): readonly Certificate[] {
  return files.flatMap((file) => certificatesIn(bytesOf(file), file));
}

/** The security half of a P-Mode: the profile, and what the configuration changes of it. */
export function securityOf(profile: ProfileName, name: string, given: SecurityInput): SecurityPMode {
  const { commonName, encryption, signature, unsignedEmptyBody, allow } = given;
  return securityProfile(profile, trustOf(given), {
    name,
    known: certificateFilesOf(given.certificates ?? []),
    ...(commonName === undefined ? {} : { party: commonName ? 'commonName' : 'any' }),
    ...(encryption === undefined ? {} : { encryption }),
    ...(signature === undefined ? {} : { signature }),
    ...(unsignedEmptyBody === undefined ? {} : { unsignedEmptyBody }),
    ...(allow === undefined ? {} : { algorithms: algorithmsWith(allow) }),
  });
}

function algorithmsWith(allow: NonNullable<SecurityInput['allow']>): AlgorithmPolicy {
  const sha1 = allow.includes('sha1');
  return {
    ...STRICT,
    signatures: sha1 ? new Set([...STRICT.signatures, RSA_SHA1]) : STRICT.signatures,
    digests: sha1 ? new Set([...STRICT.digests, SHA1_DIGEST]) : STRICT.digests,
    rsa15: allow.includes('rsa15'),
  };
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new As4OnceError('CONFIG_INVALID', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}
