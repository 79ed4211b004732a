import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ownCertificates } from '../admin/certificates.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config/config.js';
import { inspectConfig } from '../config/load.js';
import { clientTls } from '../config/pem-files.js';
import { configDigest } from '../config/redact.js';
import { accessPoint } from '../delivery/access-points.js';
import { createUpstream } from '../delivery/upstream.js';
import { As4OnceError } from '../errors.js';
import { Events } from '../events.js';
import { openJournal } from '../ledger/journal.js';
import type { Ledger } from '../ledger/port.js';
import type { RedisLedger } from '../ledger/redis/index.js';
import { openLedger } from '../open-ledger.js';
import { readBypass } from '../operate/bypass.js';
import {
  certificateFindings,
  diskFindings,
  receiptFindings,
  replicaFindings,
  serverFindings,
  skewFinding,
  storeFindings,
  timeFindings,
  type Finding,
} from '../operate/doctor.js';
import { seenIn } from '../operate/sentinel.js';
import { readStatus } from '../operate/status.js';
import { EXIT, type Io } from './io.js';
import { printable } from './show-record.js';

const HELP = `as4-once doctor: look at everything a server depends on, and say what is wrong

Usage: as4-once doctor --config FILE [--json]

Configuration, ledger and its store's settings, clocks, whether the ledger went back in time, servers, held messages, access points
(a connection is opened and closed again, nothing is sent), certificates, disks, replies waiting in the journal, and a
sample of stored Receipts, verified by a second implementation.

Exit codes: 0 nothing wrong (perhaps warnings) · 1 something is · 2 wrong command line or configuration

Example: as4-once doctor --config front.yaml
`;

export async function doctor(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const file = values.config ?? io.env['AS4_ONCE_CONFIG'];
  if (file === undefined)
    throw new As4OnceError('USAGE', 'name the configuration with --config FILE or AS4_ONCE_CONFIG');
  const { config, warnings } = inspectConfig(file, { env: io.env });
  const findings: Finding[] =
    warnings.length === 0
      ? [{ what: 'config', level: 'ok', text: `${file} is in order` }]
      : warnings.map(({ code, text }) => ({ what: 'config', level: 'warn', text: `${code} ${text}` }));
  findings.push(
    ...(await ledgerFindings(config)),
    ...(await upstreamFindings(config)),
    ...(await placeFindings(config)),
  );
  findings.push(...certificateFindings(ownCertificates(config), systemClock.now()));
  if (values.json === true) io.out(`${JSON.stringify(findings, undefined, 2)}\n`);
  else
    io.out(
      findings.map(({ what, level, text }) => `${level.padEnd(6)}${what.padEnd(14)}${printable(text)}\n`).join(''),
    );
  return findings.some(({ level }) => level === 'fail') ? EXIT.no : EXIT.ok;
}

async function ledgerFindings(config: Config): Promise<readonly Finding[]> {
  const events = new Events();
  const warnings: { code: string; text: string }[] = [];
  events.on('storeWarning', (warning) => warnings.push(warning));
  let ledger: Ledger | undefined;
  try {
    ledger = await openLedger(config, events, true);
    const before = systemClock.now();
    const { now } = await ledger.meta();
    const after = systemClock.now();
    const status = await readStatus(ledger, configDigest(config), after);
    return [
      { what: 'ledger', level: 'ok', text: `${ledger.name} answers in ${status.ledger.pingMs.toFixed(1)} ms` },
      ...timeFindings(seenIn(config.state), status, after),
      ...storeFindings(warnings),
      ...replicaFindings('replicas' in ledger ? (ledger as RedisLedger).replicas() : []),
      skewFinding(now, before, after),
      ...serverFindings(status),
      ...(await receiptFindings(ledger)),
    ];
  } catch (error) {
    if (!(error instanceof As4OnceError)) throw error;
    return [{ what: 'ledger', level: 'fail', text: error.message }];
  } finally {
    await ledger?.close();
  }
}

async function upstreamFindings(config: Config): Promise<readonly Finding[]> {
  const routes = config.routes.filter(({ upstream }) => upstream !== undefined);
  return await Promise.all(
    routes.map(async (route): Promise<Finding> => {
      const { url = '', tls } = route.upstream ?? {};
      const shown = new URL(url);
      shown.username = '';
      shown.password = '';
      shown.search = '';
      const upstream = createUpstream({
        url,
        accessPoint: accessPoint(route.accessPoint ?? 'other'),
        place: { mount: route.path, exact: true },
        limits: config.limits,
        times: config.times,
        clock: systemClock,
        ...(tls === undefined ? {} : { tls: clientTls(tls) }),
      });
      try {
        const { reachable, ms, detail = 'no answer' } = await upstream.probe();
        return {
          what: 'access point',
          level: reachable ? 'ok' : 'fail',
          text: reachable
            ? `${shown.href} takes connections, ${ms.toFixed(0)} ms`
            : `${shown.href} cannot be reached: ${detail}`,
        };
      } finally {
        await upstream.close();
      }
    }),
  );
}

async function placeFindings(config: Config): Promise<readonly Finding[]> {
  const bypass = readBypass(config.state, systemClock.now());
  // looking must not make a folder that then belongs to whoever looked
  const waiting = existsSync(config.journal) ? await openJournal({ directory: config.journal }).count() : 0;
  const folders = [
    ...(config.ledger.kind === 'embedded' ? [['ledger', config.ledger.embedded] as const] : []),
    ['journal', config.journal] as const,
  ];
  return [
    ...diskFindings(folders),
    {
      what: 'journal',
      level: waiting > 0 ? 'warn' : 'ok',
      text:
        waiting > 0
          ? `${waiting} replies were sent and are not settled yet; a running server does it when the ledger is back`
          : 'no reply waits to be settled',
    },
    ...(bypass === undefined
      ? []
      : [
          {
            what: 'bypass',
            level: 'warn' as const,
            text: `on until ${new Date(bypass.until).toISOString()}: ${bypass.reason}`,
          },
        ]),
  ];
}
