import type { Config } from './config.js';

/** What a process opens or measures by at its start and keeps to its end; all else comes into force with a reload. */
const KEPT: Readonly<Record<string, (config: Config) => unknown>> = {
  role: ({ role }) => role,
  node: ({ node }) => node,
  listen: ({ listen }) => listen,
  tls: ({ tls }) => [tls === undefined, tls?.clientAuth],
  'admin.listen': ({ admin }) => admin?.listen,
  'admin.tls': ({ admin }) => [admin?.tls === undefined, admin?.tls?.clientAuth],
  'admin.dashboard': ({ admin }) => admin?.dashboard,
  healthPath: ({ healthPath }) => healthPath,
  trustProxy: ({ trustProxy }) => trustProxy,
  ledger: ({ ledger }) => (ledger.kind === 'redis' ? { ...ledger, redis: withoutSecrets(ledger.redis) } : ledger),
  journal: ({ journal }) => journal,
  spool: ({ spool }) => spool,
  state: ({ state }) => state,
  limits: ({ limits }) => limits,
  'times.headers': ({ times }) => times.headers,
  'times.bodyIdle': ({ times }) => times.bodyIdle,
  'times.poll': ({ times }) => times.poll,
  log: ({ log }) => log,
};

/** Fields in which `next` differs from the configuration a process was started with, and that it cannot take over. */
export function needsRestart(started: Config, next: Config): readonly string[] {
  const differs = (of: (config: Config) => unknown): boolean => JSON.stringify(of(started)) !== JSON.stringify(of(next));
  return Object.entries(KEPT).flatMap(([name, of]) => (differs(of) ? [name] : []));
}

/** Passwords and certificates are renewed while it works; another server under `url` is told of by whoever renews them. */
function withoutSecrets(redis: Extract<Config['ledger'], { kind: 'redis' }>['redis']): object {
  const { url: _, username: _user, password: _password, tls: _tls, sentinel, ...rest } = redis;
  return { ...rest, sentinel: sentinel === undefined ? undefined : [sentinel.name, sentinel.nodes] };
}
