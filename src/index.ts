import type { z } from 'zod';
import { compose, type Once } from './compose.js';
import { As4OnceError } from './errors.js';
import { loadConfig } from './config/load.js';
import type { configSchema } from './config/schema.js';
import { present } from './config/values.js';
import type { Clock } from './clock.js';
import type { MessageHandler } from './delivery/backend-handler.js';
import type { Events } from './events.js';
import type { Ledger } from './ledger/port.js';

/** The public face. Engines with a client library live in `as4-once/redis` and `as4-once/lmdb`. */

type Settings = Omit<z.input<typeof configSchema>, 'role' | 'ledger' | 'listen' | 'admin' | 'log'>;

/**
 * Options of a role mounted in an application of one's own: the configuration file's fields (schemas/config.schema.json)
 * as an object, durations and sizes as text or numbers, and an open ledger.
 */
export interface MountOptions extends Settings {
  /** From redisLedger, lmdbLedger or, for tests, memoryLedger. Closed together with what is created. */
  readonly ledger: Ledger;
  readonly clock?: Clock;
  readonly events?: Events;
}

/**
 * A front before somebody else's access point (design: role front), to mount before any body parser:
 * `app.use('/as4', createFront({ upstream, accessPoint, ledger }).handler)`.
 * @throws As4OnceError CONFIG_INVALID naming each field that is wrong.
 */
export function createFront(options: MountOptions): Once {
  return mount('front', options);
}

/**
 * An AS4 endpoint: verifies, decrypts, delivers to the backend once and signs the Receipt.
 * @throws As4OnceError CONFIG_INVALID naming each field that is wrong.
 */
export function createEndpoint(options: EndpointOptions): Once {
  return mount('endpoint', options);
}

export interface EndpointOptions extends MountOptions {
  /** Takes the messages, in place of `endpoint.backend`. */
  readonly handler?: MessageHandler;
}

function mount(role: 'front' | 'endpoint', { ledger, clock, events, handler, ...settings }: EndpointOptions): Once {
  if ('then' in ledger) throw new As4OnceError('CONFIG_INVALID', `${role === 'front' ? 'createFront' : 'createEndpoint'} ledger: is a promise; await it`);
  // The engine is handed in open, so the field that names one in a file has nothing to say here.
  const value = { ...settings, role, ledger: { memory: true } };
  const config = loadConfig({ value, name: role === 'front' ? 'createFront' : 'createEndpoint' }, { handler: handler !== undefined, mounted: true });
  const given = { clock, events, handler };
  return compose({ config, ledger, ...present(given) });
}

export { once, Uncertain } from './compose-once.js';
export { As4OnceError, ERRORS } from './errors.js';
export { Events } from './events.js';
export { onceMiddleware } from './http/once-middleware.js';
export { memoryLedger } from './ledger/memory.js';
export type { ErrorCode, ErrorEntry } from './errors.js';
export type { AnswerName, EventMap, ExchangeEvent, KeyEvent } from './events.js';
export type { Clock } from './clock.js';
export type { Health } from './admin/health.js';
export type { Once } from './compose.js';
export type { MessageHandler, ReceivedMessage, ReceivedPayload } from './delivery/backend-handler.js';
export type { Handler } from './http/handler.js';
export type { OnceMiddlewareOptions } from './http/once-middleware.js';
export type { Json, OnceAttempt, OnceCallOptions, OnceMessage, OnceResult } from './once.js';
export type { Facts, Fingerprint, Message, Party, ProtocolName } from './message.js';
export type * from './ledger/port.js';
