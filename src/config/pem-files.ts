import { readFileSync } from 'node:fs';
import { As4OnceError } from '../errors.js';
import type { TlsClientInput, TlsInput } from './security-schema.js';
import { present } from './values.js';

/** The PEM files that a configuration names, read. @throws As4OnceError CONFIG_INVALID naming the file, never its content. */

export interface ClientTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
  readonly servername?: string;
}

export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  readonly passphrase?: string;
  readonly ca?: string;
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
}

export function clientTls(given: TlsClientInput): ClientTls {
  return present({
    ca: given.ca === undefined ? undefined : readAll(given.ca),
    cert: given.certificate === undefined ? undefined : readPem(given.certificate),
    key: given.key === undefined ? undefined : readPem(given.key),
    passphrase: given.passphrase,
    servername: given.serverName,
  });
}

export function serverTls(given: TlsInput): ServerTls {
  const clients = given.clientAuth ?? 'none';
  return {
    cert: readPem(given.certificate),
    key: readPem(given.key),
    requestCert: clients !== 'none',
    rejectUnauthorized: clients === 'require',
    minVersion: given.minVersion ?? 'TLSv1.2',
    ...present({ passphrase: given.passphrase, ca: given.clientCa === undefined ? undefined : readAll(given.clientCa) }),
  };
}

function readAll(files: string | readonly string[]): string {
  return (typeof files === 'string' ? [files] : files).map(readPem).join('\n');
}

export function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new As4OnceError('CONFIG_INVALID', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}
