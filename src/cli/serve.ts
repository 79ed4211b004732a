import type { RequestListener } from 'node:http';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import express from 'express';
import { adminApp } from '../admin/app.js';
import { attachLog } from '../admin/log.js';
import { systemClock } from '../clock.js';
import { composeAdmin, type Admin } from '../compose-admin.js';
import { compose, type Once } from '../compose.js';
import type { Config } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { needsRestart } from '../config/needs-restart.js';
import { serverTls } from '../config/pem-files.js';
import { As4OnceError } from '../errors.js';
import { Events } from '../events.js';
import { listen, type Listening } from '../http/server.js';
import { openLedger, renewLedger } from '../open-ledger.js';
import { EXIT, type Io } from './io.js';

const HELP = `as4-once serve: run the front or the endpoint of a configuration

Usage: as4-once serve --config FILE

The log is one JSON object per line on standard output. A line 'as4-once listens on URL' on standard error says when
messages are taken.

Signals: SIGTERM, SIGINT  finish what is in flight (times.shutdownGrace), then end
         SIGHUP           read the file again; a bad file leaves the old one in force and says where it is wrong.
                          The log names what takes a restart (listeners, limits, the ledger's place, folders)

Certificates, keys, authorities and …File: values are read again by themselves when their files are replaced; no
connection is dropped for it. What does not fit, or could not sign a Receipt (not valid yet, expired, too short a key), leaves
the old ones in force, and the log says so (event renewed) until it can.

Exit codes: 0 ended by a signal · 2 bad configuration · 70 fault · 75 the ledger cannot be opened, or the address not be listened on

Example: as4-once serve --config /etc/as4-once.yaml
`;

/** Longer than nginx' and Traefik's defaults, so that it is never we who close a connection under their request, ms. */
const KEEP_ALIVE = 130_000;

/** How often the files that the configuration names are looked at, ms. */
const RENEW_EVERY = 5_000;

type Log = ReturnType<typeof attachLog>;

export async function serve(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { config: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  if (values.config === undefined) throw new As4OnceError('USAGE', 'serve needs --config FILE');
  const file = values.config;
  const live = await LiveConfig.open(file, io.env, systemClock);
  const { config } = live;
  if (config.listen === undefined) throw new As4OnceError('CONFIG_INVALID', `${file}: listen is missing`);

  const events = new Events();
  const log = attachLog(events, {
    level: config.log.level,
    ...(config.log.file === undefined ? {} : { file: config.log.file }),
  });
  const once = compose({ config, events, ledger: await openLedger(config, events) });
  const operators = composeAdmin(once, config, resolve(file));
  const { traffic, admin } = await listenBoth(config, config.listen, once, operators).catch(async (error: unknown) => {
    // Nothing listens, so nobody would ever come: a process that stayed would only look alive.
    operators.close();
    await once.close({ graceMs: 0 });
    throw error;
  });

  let toLedger: Config | undefined;
  const apply = (next: Config): void => {
    toLedger = next;
    once.reload(next);
    operators.reload(next);
    if (next.tls !== undefined) traffic.renewTls(serverTls(next.tls));
    if (next.admin?.tls !== undefined) admin?.renewTls(serverTls(next.admin.tls));
  };
  const reload = async (): Promise<void> => {
    try {
      const next = await live.reload(apply);
      const restart = needsRestart(config, next);
      if (restart.length === 0) log.info({ event: 'reload', file }, 'configuration reloaded');
      else log.warn({ event: 'reload', file, restart }, `configuration reloaded; ${restart.join(', ')}: in force after a restart`);
    } catch (error) {
      log.error({ event: 'reload', file, error: messageOf(error) }, 'configuration refused, the old one stays in force');
    }
  };
  const stop = new AbortController();
  const renew = async (): Promise<boolean> => {
    const next = await live.refresh(apply);
    const taken = toLedger;
    if (taken !== undefined) await renewLedger(once.ledger, taken);
    if (toLedger === taken) toLedger = undefined;
    return next !== undefined;
  };
  void renewUntil(stop.signal, renew, log);
  const hangUp = (): void => void reload();
  process.on('SIGHUP', hangUp);
  const end = ended();
  // Said when signals are heard: whoever waited for this line may send one at once, and unheard it would end the process.
  io.err(`as4-once listens on ${traffic.url}\n`);
  if (admin !== undefined) io.err(`as4-once admin on ${admin.url}\n`);
  await end;
  process.off('SIGHUP', hangUp);
  stop.abort();
  operators.close();
  await shutDown(once, live.config, traffic, admin);
  return EXIT.ok;
}

/** Looks for replaced certificates, keys and secrets; what cannot be used yet is said once and tried again. */
async function renewUntil(signal: AbortSignal, renew: () => Promise<boolean>, log: Log): Promise<void> {
  let said = '';
  while (!signal.aborted) {
    await systemClock.sleep(RENEW_EVERY, signal);
    if (signal.aborted) return;
    try {
      if (await renew() || said !== '') log.info({ event: 'renewed' }, 'certificates, keys or secrets were replaced and are in force');
      said = '';
    } catch (error) {
      const why = messageOf(error);
      if (why !== said) log.error({ event: 'renewed', error: why }, 'replaced files cannot be used, the old ones stay in force');
      said = why;
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function listenBoth(
  config: Config, at: NonNullable<Config['listen']>, once: Once, operators: Admin,
): Promise<{ traffic: Listening; admin: Listening | undefined }> {
  const traffic = await listen(trafficListener(config, once), listenOptions(config, at, config.tls), systemClock);
  if (config.admin === undefined) return { traffic, admin: undefined };
  const { metrics: registry, health, ready } = once;
  try {
    const app = adminApp({ registry, health, ready, ...operators });
    return { traffic, admin: await listen(app, listenOptions(config, config.admin.listen, config.admin.tls), systemClock) };
  } catch (error) {
    await traffic.close(0);
    throw error;
  }
}

/**
 * The walk is asked before the router: a message has no use for one, and it costs 70 to 95 µs a request on Node 20
 * (measured). Express answers the rest: a health path for load balancers that can only ask the traffic port, and 404.
 */
function trafficListener(config: Config, once: Once): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  const { healthPath } = config;
  if (healthPath !== undefined) {
    app.get(healthPath, (_request, response) => {
      response.status(once.ready() ? 200 : 503).type('text/plain').send(once.ready() ? 'ready\n' : 'shutting down\n');
    });
  }
  return (request, response) => {
    const aside = healthPath !== undefined && request.method === 'GET' && request.url?.split('?', 1)[0] === healthPath;
    if (aside) app(request, response);
    else once.handler(request, response, () => app(request, response));
  };
}

function listenOptions(config: Config, at: NonNullable<Config['listen']>, tls: Config['tls']): Parameters<typeof listen>[1] {
  return {
    host: at.host,
    port: at.port,
    headersMs: config.times.headers,
    keepAliveMs: KEEP_ALIVE,
    ...(tls === undefined ? {} : { tls: serverTls(tls) }),
  };
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

/** First no new requests, then what is in flight, then the ledger; a second signal ends at once by Node's default. */
async function shutDown(once: Once, config: Config, traffic: Listening, admin: Listening | undefined): Promise<void> {
  const graceMs = config.times.shutdownGrace;
  await Promise.all([traffic.close(graceMs), once.close({ graceMs })]);
  await admin?.close(1_000);
}
