import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { systemClock, type Clock } from '../../clock.js';
import { As4OnceError } from '../../errors.js';
import type { Events } from '../../events.js';
import { Contact } from '../contact.js';
import type { Connection, RedisPort, TlsMaterial } from './command-port.js';
import { asLedgerError } from './errors.js';
import { oldVersion } from './inspect.js';
import { Keys } from './keys.js';
import { redisPort, type RedisLedger as Opened } from './ledger.js';
import { RenewablePort } from './renewable-port.js';
import { Runner } from './runner.js';
import { Watchman } from './watchman.js';

export interface RedisLedgerOptions extends Omit<Connection, 'tls' | 'commandTimeout' | 'connectTimeout'> {
  /** How long one command may take, ms. Default 2,000. */
  readonly commandTimeout?: number | undefined;
  /** How long a connection may take to open, ms. Default 5,000. */
  readonly connectTimeout?: number | undefined;
  /** Library of the ledger's own client; or a connected client of the caller's, of either library. Default ioredis. */
  readonly client?: 'ioredis' | 'node-redis' | object | undefined;
  /** The library of a client handed in, where it cannot be told by its looks (a wrapper). */
  readonly clientLibrary?: 'ioredis' | 'node-redis' | undefined;
  /** What every key begins with. Default `as4-once:`. */
  readonly prefix?: string | undefined;
  /** true, or PEM files. `rediss://` implies it. */
  readonly tls?: boolean | TlsFiles | undefined;
  /** A claim counts only when so many replicas have it. Default 0. */
  readonly waitReplicas?: number | undefined;
  /** Refuse to open a store that may forget, or that cannot be reached. */
  readonly strict?: boolean | undefined;
  /** A command of an operator: leases are judged by how long the server has been up, not by this process' own contact. */
  readonly oneShot?: boolean | undefined;
  /** Take no new claims once the server uses so many bytes; everything else goes on. */
  readonly maxBytes?: number | undefined;
  readonly events?: Events | undefined;
  readonly clock?: Clock | undefined;
}

/** Names of PEM files. */
export interface TlsFiles {
  readonly ca?: string | readonly string[] | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly serverName?: string | undefined;
}

export interface RedisLedger extends Opened {
  /**
   * Goes over to connections with other passwords, certificates or authorities; commands under way end on the old ones.
   * `elsewhere`: the options name another store, which takes a new start. @throws As4OnceError LEDGER_DOWN while the store
   * does not take them; the old connections stay.
   */
  renewSecrets(options: RedisLedgerOptions): Promise<'same' | 'renewed' | 'elsewhere'>;
}

/** Commands of the port go on judging anew for this many command timeouts at most. */
const ROUNDS = 3;

/**
 * The ledger on Redis 7.0 or later: standalone, Sentinel or Cluster, through ioredis or node-redis. Opens also while the
 * server is away, unless `strict`; commands answer LEDGER_DOWN until it is there.
 * @throws As4OnceError CONFIG_INVALID where the server is too old or, with `strict`, may forget; LEDGER_DOWN with `strict`.
 */
export async function redisLedger(options: RedisLedgerOptions): Promise<RedisLedger> {
  const { clock = systemClock, prefix = 'as4-once:', waitReplicas = 0, strict = false, events, maxBytes, oneShot = false } = options;
  const { commandTimeout = 2_000, connectTimeout = 5_000 } = options;
  const open = (given: RedisLedgerOptions): Promise<RedisPort> =>
    portOf(given, { ...given, commandTimeout, connectTimeout, tls: tlsOf(given.tls) });
  const port = new RenewablePort(await open(options), clock);
  const contact = new Contact(clock);
  const runner = new Runner(port, contact, commandTimeout);
  const watchman = new Watchman(runner, { clock, contact, waitReplicas, maxBytes, events });
  const ledger = redisPort({
    runner, clock, contact, watchman, waitReplicas, oneShot, keys: new Keys(prefix), patienceMs: commandTimeout * ROUNDS,
  });
  try {
    await opened(port, ledger, watchman, connectTimeout, strict);
  } catch (error) {
    await ledger.close();
    throw error;
  }
  watchman.start();
  let secrets = secretsOf(options);
  return {
    ...ledger,
    renewSecrets: async (given) => {
      if (typeof options.client === 'object') return 'same';
      if (JSON.stringify(placeOf(given)) !== JSON.stringify(placeOf(options))) return 'elsewhere';
      const next = secretsOf(given);
      if (next === secrets) return 'same';
      await port.renew(await open(given), (made) => connected(made, connectTimeout));
      secrets = next;
      return 'renewed';
    },
  };
}

/** Which store it is, whoever may enter. */
function placeOf({ url, database, sentinel, cluster, prefix }: RedisLedgerOptions): object {
  const server = url === undefined ? undefined : new URL(url);
  return {
    server: server === undefined ? undefined : `${server.protocol}//${server.host}${server.pathname}`,
    database, prefix, sentinel: sentinel === undefined ? undefined : [sentinel.name, sentinel.nodes], cluster: cluster?.nodes,
  };
}

/** All that may be replaced while it works, to be compared and never shown. */
function secretsOf({ url, username, password, sentinel, tls }: RedisLedgerOptions): string {
  return createHash('sha256').update(JSON.stringify([url, username, password, sentinel?.username, sentinel?.password, tlsOf(tls)])).digest('hex');
}

async function opened(port: RedisPort, ledger: Opened, watchman: Watchman, connectTimeout: number, strict: boolean): Promise<void> {
  try {
    await connected(port, connectTimeout);
    const warnings = await watchman.inspect();
    const old = watchman.states.find(({ version }) => oldVersion(version));
    if (old !== undefined) throw new As4OnceError('CONFIG_INVALID', `Redis 7.0 or later is needed, and this is ${old.version}`);
    const forgetful = warnings.filter(({ mayForget }) => mayForget);
    if (strict && forgetful.length > 0) {
      throw new As4OnceError('CONFIG_INVALID', `ledger.strict refuses a store that may forget: ${forgetful.map(({ text }) => text).join('; ')}`);
    }
    await ledger.meta();
  } catch (error) {
    const failure = asLedgerError(error, false);
    if (strict || failure.code !== 'LEDGER_DOWN') throw failure;
  }
}

/** Within its time, or LEDGER_DOWN; the client goes on trying meanwhile. */
async function connected(port: RedisPort, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new As4OnceError('LEDGER_DOWN', `no connection to Redis within ${withinMs} ms`)), withinMs);
  });
  const connecting = port.connect();
  connecting.catch(() => undefined);
  try {
    await Promise.race([connecting, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The adapter for the client; its library is loaded only when it is used. */
async function portOf({ client = 'ioredis', clientLibrary }: RedisLedgerOptions, connection: Connection): Promise<RedisPort> {
  if (client === 'ioredis') return (await import('./ioredis.js')).ownIoredis(connection);
  if (client === 'node-redis') return (await import('./node-redis.js')).ownNodeRedis(connection);
  if (typeof client !== 'object') throw new As4OnceError('CONFIG_INVALID', 'client must be ioredis, node-redis, or a client of either');
  const library = clientLibrary ?? libraryOf(client);
  if (library === 'ioredis') return (await import('./ioredis.js')).givenIoredis(client);
  if (library === 'node-redis') return (await import('./node-redis.js')).givenNodeRedis(client);
  throw new As4OnceError('CONFIG_INVALID', 'the client is neither of ioredis nor of node-redis; say which with clientLibrary');
}

/** The one place that tells clients apart by what they can do. */
function libraryOf(client: object): 'ioredis' | 'node-redis' | undefined {
  const { callBuffer, sendCommand, withTypeMapping } = client as Readonly<Record<string, unknown>>;
  if (typeof callBuffer === 'function') return 'ioredis';
  return typeof sendCommand === 'function' && typeof withTypeMapping === 'function' ? 'node-redis' : undefined;
}

function tlsOf(tls: RedisLedgerOptions['tls']): TlsMaterial | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) return {};
  const { ca, certificate, key, passphrase, serverName } = tls;
  return {
    ...(ca === undefined ? {} : { ca: [ca].flat().map((file) => readFileSync(file)) }),
    ...(certificate === undefined ? {} : { cert: readFileSync(certificate) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}

export type { StoreWarning } from './inspect.js';
