import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from '../src/security/keys.js';

export interface KeyFiles {
  readonly key: string;
  readonly certificate: string;
}

/** Made at the first run and kept: a partner trusts a certificate, and a Receipt names one. */
export function testKeys(folder: string, name: string): KeyFiles {
  const files = { key: join(folder, `${name}.key`), certificate: join(folder, `${name}.crt`) };
  if (existsSync(files.key) && existsSync(files.certificate)) return files;
  mkdirSync(folder, { recursive: true });
  const made = selfSigned(name);
  writeFileSync(files.key, made.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(files.certificate, made.certificate.x509.toString());
  return files;
}
