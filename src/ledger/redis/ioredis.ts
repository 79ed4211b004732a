import { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { hostAndPort, retryDelay } from './command-port.js';
import type { Arg, Connection, Evaluation, RedisNode, RedisPort, Reply } from './command-port.js';
import { messageOf } from './errors.js';
import { Leases } from './leases.js';

type Client = Redis | Cluster;

/** A client of our own: nothing waits in a queue for better times, and nothing is sent twice behind our back. */
export function ownIoredis(connection: Connection): RedisPort {
  return new Ioredis(made(connection), true, (connection.cluster ?? connection.sentinel)?.nodes);
}

/** A client of the caller's, with all of its settings. */
export const givenIoredis = (client: unknown): RedisPort => new Ioredis(client as Client, false);

const AT_ONCE = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 } as const;

function made(connection: Connection): Client {
  const { url, username, password, database, sentinel, cluster, tls, commandTimeout, connectTimeout } = connection;
  const common = {
    ...AT_ONCE,
    lazyConnect: true,
    connectTimeout,
    // a connection that died without a word is noticed by the first command on it
    socketTimeout: commandTimeout * 2,
    retryStrategy: retryDelay,
    ...present({ username, password, db: cluster === undefined ? database : undefined, tls: tls === undefined ? undefined : { ...tls, ca: tls.ca?.slice() } }),
  };
  if (cluster !== undefined) {
    const { retryStrategy: _retry, lazyConnect: _lazy, enableOfflineQueue: _queue, ...redisOptions } = common;
    const settings = {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryDelay,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshTimeout: connectTimeout,
      slotsRefreshInterval: 5_000,
      redisOptions,
    };
    return new Cluster(cluster.nodes.map(hostAndPort), settings);
  }
  if (sentinel !== undefined) {
    const settings: Partial<RedisOptions> = {
      ...common,
      name: sentinel.name,
      sentinels: sentinel.nodes.map(hostAndPort),
      sentinelRetryStrategy: retryDelay,
      ...present({ sentinelUsername: sentinel.username, sentinelPassword: sentinel.password }),
    };
    return new Redis(settings as object);
  }
  return new Redis(url ?? 'redis://127.0.0.1:6379', common);
}

class Ioredis implements RedisPort {
  readonly client = 'ioredis';
  readonly cluster: boolean;
  readonly keyPrefix: string;
  readonly #client: Client;
  readonly #own: boolean;
  readonly #leases = new Map<string, Leases<Redis>>();
  readonly #slots = new Map<string, number>();
  readonly #subscribers: Client[] = [];
  #trouble: unknown;
  readonly #servers: readonly string[];

  constructor(client: Client, own: boolean, servers: readonly string[] = []) {
    this.#client = client;
    this.#own = own;
    this.cluster = 'nodes' in client;
    this.keyPrefix = client.options.keyPrefix ?? '';
    // errors of the connection show in every command; without a listener the first one would end the process
    if (own) client.on('error', (error) => (this.#trouble = error));
    this.#servers = servers;
    client.on('ready', () => (this.#trouble = undefined));
  }

  trouble(): unknown {
    const said = this.#trouble;
    // of a cluster or of Sentinels the client only says that it reached none, if it says anything
    const silent = said === undefined ? this.#client.status !== 'ready' : messageOf(said).includes('Connection is closed');
    return silent && this.#servers.length > 0 ? new Error(`no connection to any of ${this.#servers.join(', ')}`) : said;
  }

  evaluate({ how, script, keys, args }: Evaluation): Promise<Reply> {
    return this.#client.callBuffer(how.toLowerCase(), script, String(keys.length), ...keys, ...args) as Promise<Reply>;
  }

  async evaluateAndWait({ how, script, keys, args }: Evaluation, replicas: number, timeoutMs: number): Promise<{ reply: Reply; replicas: number }> {
    const node = await this.#ownerOf(keys[0] ?? '');
    return this.#leaseOf(node).with(async (connection) => {
      const names = keys.map((key) => this.keyPrefix + key);
      const [reply, reached] = await Promise.all([
        connection.callBuffer(how.toLowerCase(), script, String(keys.length), ...names, ...args),
        connection.call('wait', String(replicas), String(timeoutMs)),
      ]);
      return { reply: reply as Reply, replicas: Number(reached) };
    });
  }

  async nodes(): Promise<readonly RedisNode[]> {
    return this.#masters().map((node) => ({
      id: nameOf(node),
      send: ([name = '', ...args]: readonly Arg[]) => node.callBuffer(String(name).toLowerCase(), ...args) as Promise<Reply>,
    }));
  }

  async subscribe(channel: string, heard: (message: string) => void): Promise<void> {
    const patient = { enableOfflineQueue: true, maxRetriesPerRequest: null, lazyConnect: false, socketTimeout: undefined };
    const subscriber: Client = this.cluster
      ? (this.#client as Cluster).duplicate([], { enableOfflineQueue: true, lazyConnect: false })
      : (this.#client as Redis).duplicate(patient);
    this.#subscribers.push(subscriber);
    subscriber.on('error', () => undefined);
    subscriber.on('message', (from: string, message: string) => {
      if (from === channel) heard(message);
    });
    await subscriber.subscribe(channel);
  }

  onLost(lost: () => void): void {
    for (const event of ['close', 'end', '-node'] as const) this.#client.on(event, lost);
  }

  async connect(): Promise<void> {
    if (this.#client.status === 'wait') await this.#client.connect();
    else if (this.#client.status !== 'ready') await new Promise<void>((resolve) => this.#client.once('ready', resolve));
  }

  async close(): Promise<void> {
    for (const lease of this.#leases.values()) lease.close();
    for (const subscriber of this.#subscribers.splice(0)) subscriber.disconnect();
    if (this.#own) this.#client.disconnect();
  }

  #masters(): Redis[] {
    return 'nodes' in this.#client ? this.#client.nodes('master') : [this.#client];
  }

  /** The connection of the master that has the key's slot. */
  async #ownerOf(key: string): Promise<Redis> {
    const client = this.#client;
    if (!('nodes' in client)) return client;
    const tag = key.replace(/^[^{]*\{([^}]+)\}.*$/, '$1');
    let slot = this.#slots.get(tag);
    if (slot === undefined) {
      slot = Number(await client.call('cluster', 'keyslot', this.keyPrefix + key));
      this.#slots.set(tag, slot);
    }
    const address = client.slots[slot]?.[0];
    const node = this.#masters().find((master) => nameOf(master) === address);
    if (node === undefined) throw new Error(`no connection to the master of slot ${slot}`);
    return node;
  }

  #leaseOf(node: Redis): Leases<Redis> {
    const name = this.cluster ? nameOf(node) : '';
    const known = this.#leases.get(name);
    if (known !== undefined) return known;
    const lease = new Leases(async () => {
      // duplicates of a node carry no prefix of the cluster: names are complete already
      const connection = node.duplicate({ ...AT_ONCE, lazyConnect: true, keyPrefix: '' });
      connection.on('error', () => undefined);
      await connection.connect();
      return connection;
    }, (connection) => connection.disconnect());
    this.#leases.set(name, lease);
    return lease;
  }
}

const nameOf = (node: Redis): string => `${node.options.host}:${node.options.port}`;

/** The fields that have a value: a client takes an explicit undefined for a setting. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
