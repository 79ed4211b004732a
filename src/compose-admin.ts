import { hostname } from 'node:os';
import { adminApi } from './admin/api.js';
import type { AdminParts } from './admin/app.js';
import type { StatusView } from './admin/api-schema.js';
import { ownCertificates } from './admin/certificates.js';
import { dashboard } from './admin/dashboard.js';
import { operatorMetrics } from './admin/metrics.js';
import { packageVersion } from './admin/package-root.js';
import { Rates } from './admin/rates.js';
import { StandingWatch } from './admin/standing.js';
import { Storms } from './admin/storms.js';
import { systemClock, type Clock } from './clock.js';
import type { Once } from './compose.js';
import type { Config } from './config/config.js';
import { configDigest } from './config/redact.js';
import { compileRules } from './policy/select.js';

/** How often the ledger is asked what is held, uncertain and in flight, ms. */
const LOOK_EVERY = 30_000;

/** How old the answer to a question about it may be, ms: open dashboards share one look. */
const FRESH = 4_000;

/** The dashboard is absent where the configuration says `dashboard: false`. */
export interface Admin extends Pick<AdminParts, 'api' | 'dashboard'> {
  /** Puts another configuration in force: its token, its certificates, its routes. */
  reload(config: Config): void;
  close(): void;
}

/** What the operator's listener shows, put together around one instance. Made before traffic is taken, so that nothing is missed. */
export function composeAdmin(once: Once, first: Config, configFile: string, clock: Clock = systemClock): Admin {
  const { events, ledger } = once;
  let config = first;
  let certificates = ownCertificates(config);
  let digest = configDigest(config);
  const version = packageVersion();
  const node = config.node ?? hostname();
  const rates = new Rates(events, clock);
  const storms = new Storms(events, clock);
  const standing = new StandingWatch(ledger, clock);
  const stop = new AbortController();
  void standing.watch(LOOK_EVERY, stop.signal);
  operatorMetrics(once.metrics, {
    version,
    role: config.role,
    standing: () => standing.latest,
    warnings: () => once.ledgerHealth.warnings,
    pingMs: () => once.ledgerHealth.pingMs,
    storms: () => storms.list().length,
    certificates: () => certificates,
    journal: async () => (await once.load()).journal,
    now: () => clock.now(),
  });
  const iso = (ms: number): string => new Date(ms).toISOString();

  const status = async (): Promise<StatusView> => {
    const [load, now, meta] = await Promise.all([once.load(), standing.look(FRESH), ledger.meta().catch(() => undefined)]);
    const { role, routes } = config;
    return {
      asOf: iso(clock.now()),
      node, role, version,
      configDigest: digest,
      uptimeSeconds: Math.floor(rates.uptime / 1_000),
      routes: routes.map(({ name, path, protocol, scope, rules }) => {
        const { defaults, partners } = compileRules(rules);
        return { name, path, protocol, scope, partners: partners.length, mode: defaults.mode, window: defaults.window };
      }),
      ...load,
      ...(now === undefined || meta === undefined ? {} : { ledger: ledgerView(now, meta) }),
      certificates: certificates.map((own) => ({ ...own, notAfter: iso(own.notAfter) })),
    };
  };

  return {
    api: adminApi({ ledger, events, clock, rates, storms, configFile, status, config: () => config, health: () => once.health() }),
    ...(config.admin?.dashboard === true ? { dashboard: dashboard() } : {}),
    reload: (next) => {
      config = next;
      certificates = ownCertificates(next);
      digest = configDigest(next);
    },
    close: () => stop.abort(),
  };

  function ledgerView({ stats, at: _, oldestHeld, oldestUncertain, ...counts }: NonNullable<typeof standing.latest>, meta: { id: string; settles: number }): NonNullable<StatusView['ledger']> {
    return {
      ...counts,
      records: stats.records,
      bytes: stats.bytes,
      ...(stats.maxBytes === undefined ? {} : { maxBytes: stats.maxBytes }),
      ...(stats.byState === undefined ? {} : { byState: stats.byState }),
      ...(oldestHeld === undefined ? {} : { oldestHeld: iso(oldestHeld) }),
      ...(oldestUncertain === undefined ? {} : { oldestUncertain: iso(oldestUncertain) }),
      id: meta.id,
      settles: meta.settles,
    };
  }
}
