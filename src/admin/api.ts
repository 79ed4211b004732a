import express, { type ErrorRequestHandler, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import type { Config } from '../config/config.js';
import { As4OnceError } from '../errors.js';
import { callerOf, refuseForeignPages, type Caller } from './access.js';
import { acceptAct, bypassAct, parsed, releaseAct, settleAct, type ActParts, type Actor } from './acts.js';
import type { StatusView } from './api-schema.js';
import { findRecords, oldestFirst } from './find-records.js';
import type { Health } from './health.js';
import type { Rates } from './rates.js';
import { recordView, shellWord } from './record-view.js';
import type { Storm, Storms } from './storms.js';

export interface ApiParts extends ActParts {
  /** Where the configuration stands, for the commands that are shown. */
  readonly configFile: string;
  readonly rates: Rates;
  readonly storms: Storms;
  health(): Promise<Health>;
  status(): Promise<StatusView>;
}

/** A Receipt of limits.maxReply in base64, and the rest of the request. */
const BODY = '2mb';
const LISTED = 100;
const MOST_LISTED = 1_000;

const listQuery = z.strictObject({
  what: z.enum(['held', 'uncertain', 'inFlight']),
  limit: z.coerce.number().int().min(1).max(MOST_LISTED).default(LISTED),
});
const recordsQuery = z.strictObject({ id: z.string().min(1).optional(), key: z.string().min(1).max(200).optional(), from: z.string().min(1).optional(), type: z.string().min(1).optional() })
  .refine(({ id, key }) => (id === undefined) !== (key === undefined), { error: 'give either id or key' });

/**
 * The admin JSON API (docs/admin-api.md), all below /api. Health and rates are for anybody who reaches the listener;
 * everything that names a message or a partner, and every act, is for operators.
 */
export function adminApi(parts: ApiParts): Router {
  const { ledger, clock, rates, storms, configFile } = parts;
  const api = express.Router();
  const asOf = (): string => iso(clock.now());
  const accessRules = (): NonNullable<Config['admin']> => parts.config().admin ?? NO_ADMIN;
  const caller = (request: Request): Caller => callerOf(request, accessRules());
  const operator = (request: Request): Extract<Caller, { kind: 'operator' }> => {
    const who = caller(request);
    if (who.kind !== 'operator') throw new As4OnceError('UNAUTHORIZED', 'for operators only');
    return who;
  };
  /** An answer for operators, made only once it is known that an operator asks. */
  const reading = (path: string, answer: (query: unknown) => unknown): void => {
    api.get(path, async (request, response) => {
      operator(request);
      response.json(await answer(request.query));
    });
  };
  const acting = (path: string, act: (parts: ApiParts, actor: Actor, body: unknown) => Promise<object>): void => {
    const identify = (request: Request, _response: Response, next: () => void): void => {
      operator(request);
      refuseForeignPages(request);
      next();
    };
    api.post(path, identify, express.json({ limit: BODY }), async (request, response) => {
      const { name } = operator(request);
      const actor: Actor = { peer: request.socket.remoteAddress ?? '', ...(name === undefined ? {} : { name }) };
      response.json(await act(parts, actor, request.body));
    });
  };

  api.use((_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'Cross-Origin-Resource-Policy': 'same-origin' });
    next();
  });
  api.get('/health', async (request, response) => {
    const who = caller(request);
    response.json({ ...(await parts.health()), can: rightsOf(who, accessRules()) });
  });
  api.get('/rates', (request, response) => {
    caller(request);
    response.json({
      asOf: asOf(), uptimeSeconds: Math.floor(rates.uptime / 1_000), answers: rates.answers(),
      minutes: rates.minutes().map(({ at, ...groups }) => ({ at: iso(at), ...groups })),
    });
  });
  reading('/status', () => parts.status());
  reading('/partners', () => ({ asOf: asOf(), partners: rates.partners().map((line) => ({ ...line, lastSeen: iso(line.lastSeen) })) }));
  reading('/storms', () => ({ asOf: asOf(), storms: storms.list().map((storm) => stormView(storm, configFile)) }));
  reading('/records', async (query) => {
    const records = await findRecords(parts.config(), ledger, parsed(recordsQuery, query));
    return { asOf: asOf(), records: records.map((record) => recordView(record, configFile)) };
  });
  reading('/list', async (query) => {
    const { what, limit } = parsed(listQuery, query);
    const records = await oldestFirst(ledger, what, limit + 1);
    return { asOf: asOf(), what, records: records.slice(0, limit).map((record) => recordView(record, configFile)), more: records.length > limit };
  });
  const onRecord = (done: string, act: typeof settleAct): Parameters<typeof acting>[1] => async (...asked) =>
    ({ done, record: recordView(await act(...asked), configFile) });
  acting('/settle', onRecord('settled: later copies get this Receipt', settleAct));
  acting('/release', onRecord('released: the next copy is delivered once, marked', releaseAct));
  acting('/ledger/accept', async (...asked) => ({ done: await acceptAct(...asked) }));
  acting('/bypass', async (...asked) => ({ done: await bypassAct(...asked) }));
  api.use((request) => {
    throw new As4OnceError('NOT_FOUND', `the admin API has no ${request.method} ${request.path}`);
  });
  api.use(refusing(parts));
  return api;
}

const NO_ADMIN: NonNullable<Config['admin']> = { listen: { host: '', port: 0 }, dashboard: false };

function rightsOf(who: Caller, { token, tls }: NonNullable<Config['admin']>): object {
  const may = who.kind === 'operator';
  const signIn = token !== undefined ? 'token' : (tls?.clientAuth ?? 'none') !== 'none' ? 'certificate' : 'none';
  return { read: may, write: may, signIn, ...(may && who.name !== undefined ? { name: who.name } : {}) };
}

/** Every refusal in one shape, and one event for each that wanted more than it may. */
function refusing({ events }: ApiParts): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const known = asKnown(error);
    if (known.code === 'UNAUTHORIZED') {
      events.emit('denied', { peer: request.socket.remoteAddress ?? '', path: request.baseUrl + request.path });
      response.set('WWW-Authenticate', 'Bearer realm="as4-once admin"');
    }
    if (known.code === 'INTERNAL') events.emit('fault', { code: 'INTERNAL', detail: `admin API: ${known.detail}` });
    const { status, advice } = known.entry;
    response.status(status < 400 ? 400 : status).json({ error: { code: known.code, detail: known.detail, advice } });
  };
}

/** What express itself throws (a body that is no JSON, or too long) carries an HTTP status of its own. */
function asKnown(error: unknown): As4OnceError {
  if (error instanceof As4OnceError) {
    // what is a wrong command line elsewhere is a wrong request here
    return error.code === 'USAGE' || error.code === 'CONFIG_INVALID' ? new As4OnceError('REQUEST_INVALID', error.detail) : error;
  }
  const { status, type } = error as { status?: number; type?: string };
  if (status !== undefined && status >= 400 && status < 500) return new As4OnceError('REQUEST_INVALID', type ?? 'the body cannot be read');
  return new As4OnceError('INTERNAL', error instanceof Error ? error.message : String(error));
}

function stormView({ kind, since, last, key, ...storm }: Storm, configFile: string): object {
  const times = `${storm.copies} copies in ${duration(last - since)}`;
  const diagnosis = kind === 'unaccepted'
    ? `${times}, each answered with the Receipt: the sender does not accept it. Ask its operator which error it logs, and whether it trusts the certificate that signed the Receipt.`
    : `${times} with other content than was accepted: the sender reuses the id. It needs a new one.`;
  return { ...storm, kind, key, since: iso(since), last: iso(last), diagnosis, command: `as4-once show --key ${shellWord(key)} --config ${shellWord(configFile)}` };
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes === 0 ? 'less than a minute' : minutes === 1 ? 'a minute' : `${minutes} minutes`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
