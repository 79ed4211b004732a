import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.js';

/** A certificate of our own, and when it ends. */
export interface OwnCertificate {
  /** What it is for: `tls`, `admin`, `upstream /as4`, `redis`, `endpoint`. */
  readonly use: string;
  readonly file: string;
  readonly subject: string;
  /** Epoch ms: the earliest end within the file, since a chain is as short as its shortest link. */
  readonly notAfter: number;
}

/** Certificates that the configuration names as ours. A file that cannot be read is left out: its use complains itself. */
export function ownCertificates(config: Config): readonly OwnCertificate[] {
  const { ledger } = config;
  const redis = ledger.kind === 'redis' && typeof ledger.redis.tls === 'object' ? ledger.redis.tls.certificate : undefined;
  const named: (readonly [use: string, file: string | undefined])[] = [
    ['tls', config.tls?.certificate],
    ['admin', config.admin?.tls?.certificate],
    ...config.routes.map(({ path, upstream }) => [`upstream ${path}`, upstream?.tls?.certificate] as const),
    ['redis', redis],
    ...(config.endpoint?.keys ?? []).map(({ certificate }) => ['endpoint', certificate] as const),
  ];
  return named.flatMap(([use, file]) => (file === undefined ? [] : readChain(use, file)));
}

function readChain(use: string, file: string): readonly OwnCertificate[] {
  try {
    const chain = pems(readFileSync(file, 'utf8')).map((pem) => new X509Certificate(pem));
    const [own] = chain;
    if (own === undefined) return [];
    return [{ use, file, subject: own.subject.replaceAll('\n', ', '), notAfter: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))) }];
  } catch {
    return [];
  }
}

function pems(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
}
