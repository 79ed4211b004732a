import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from '../security/keys.js';

export interface KeyFiles {
  readonly key: string;
  readonly certificate: string;
}

/**
 * A key and a self-signed certificate to try things out with, as `<name>.key` and `<name>.crt`. Made once and kept: a
 * partner trusts a certificate, and a Receipt names one.
 */
export function testKeys(folder: string, name: string, commonName = name): KeyFiles {
  const files = { key: join(folder, `${name}.key`), certificate: join(folder, `${name}.crt`) };
  if (existsSync(files.key) && existsSync(files.certificate)) return files;
  mkdirSync(folder, { recursive: true });
  const made = selfSigned(commonName);
  // half a pair may be somebody's own, so nothing that is there is written over
  writeFileSync(files.key, made.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  writeFileSync(files.certificate, made.certificate.x509.toString(), { flag: 'wx' });
  return files;
}
