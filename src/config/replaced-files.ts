import { statSync } from 'node:fs';
import type { Config } from './config.js';
import type { SecurityInput } from './security-schema.js';

/** Certificates, keys and authorities that a configuration names: whoever renews them replaces the files under us. */
export function pemFiles(config: Config): readonly string[] {
  const { ledger } = config;
  const redis = ledger.kind === 'redis' && typeof ledger.redis.tls === 'object' ? [ledger.redis.tls] : [];
  const servers = [config.tls, config.admin?.tls].flatMap((tls) => (tls === undefined ? [] : [tls]));
  const clients = [...config.routes.flatMap(({ upstream, backend }) => [upstream?.tls, backend?.http?.tls]), ...redis]
    .filter((tls) => tls !== undefined);
  const files = [
    ...servers.flatMap(({ certificate, key, clientCa }) => [certificate, key, clientCa]),
    ...clients.flatMap(({ certificate, key, ca }) => [certificate, key, ca]),
    ...(config.endpoint?.keys ?? []).flatMap(({ certificate, key }) => [certificate, key]),
    ...securities(config).flatMap(({ trust = [], crl = [], certificates = [] }) => [...trust, ...crl, ...certificates]),
  ];
  return [...new Set(files.flat().filter((file) => file !== undefined))];
}

/** What signatures are judged by: for everybody, and what differs for single partners. */
function securities(config: Config): readonly SecurityInput[] {
  const own = config.routes.flatMap(({ partnerSecurity }) => Object.values(partnerSecurity));
  return config.security === undefined ? own : [config.security, ...own];
}

/**
 * Whether any of some files was replaced since the last look, by what the file system says of them. Links are followed,
 * so that a folder swapped as a whole (Kubernetes secrets) counts. A file that is missing counts as one state too.
 */
export class ReplacedFiles {
  readonly #stamps: ReadonlyMap<string, string>;

  constructor(files: readonly string[]) {
    this.#stamps = new Map(files.map((file) => [file, stamp(file)]));
  }

  get any(): boolean {
    return [...this.#stamps].some(([file, before]) => stamp(file) !== before);
  }
}

function stamp(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'missing' : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}
