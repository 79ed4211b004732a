import { createClient, createCluster, createSentinel, RESP_TYPES } from 'redis';
import { hostAndPort, retryDelay } from './command-port.js';
import type { Arg, Connection, Evaluation, RedisNode, RedisPort, Reply } from './command-port.js';
import { Leases } from './leases.js';

/** What the three kinds of node-redis clients have in common, as far as it is used here. */
interface Common {
  readonly _keyPrefix?: string | Buffer;
  readonly isOpen: boolean;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): unknown;
  duplicate(overrides?: object): Common;
  subscribe(channel: string, heard: (message: string) => void): Promise<void>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  once(event: string, listener: (...args: unknown[]) => void): unknown;
}
interface Single extends Common {
  sendCommand(args: readonly Arg[], options: object): Promise<Reply>;
  duplicate(overrides?: object): Single;
}
interface ClusterClient extends Common {
  readonly masters: readonly { readonly address: string }[];
  sendCommand(firstKey: string, isReadonly: boolean, args: readonly Arg[], options: object): Promise<Reply>;
  nodeClient(node: { readonly address: string }): Promise<Single>;
  getNodeClientForKey(key: string): Promise<Single>;
}
interface SentinelLease {
  sendCommand(isReadonly: boolean, args: readonly Arg[], options: object): Promise<Reply>;
  release(): unknown;
}
interface SentinelClient extends Common {
  acquire(): Promise<SentinelLease>;
  use<T>(run: (client: SentinelLease) => Promise<T>): Promise<T>;
}
type Client = Single | ClusterClient | SentinelClient;

/** Values are bytes: only then does a stored reply come back as it was. */
const AS_BUFFERS = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

/** A client of our own: nothing waits in a queue for better times. */
export const ownNodeRedis = (connection: Connection): RedisPort => new NodeRedis(made(connection), true);

/** A client of the caller's, with all of its settings. */
export const givenNodeRedis = (client: unknown): RedisPort => new NodeRedis(client as Client, false);

function made({ url, username, password, database, sentinel, cluster, tls, commandTimeout, connectTimeout }: Connection): Client {
  const credentials = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
  // a connection on which nothing comes although the pulse asks every second is dead
  const socket = { connectTimeout, socketTimeout: Math.max(5_000, commandTimeout * 2), reconnectStrategy: retryDelay, ...(tls === undefined ? {} : { ...tls, tls: true }) };
  const node = { ...credentials, socket, disableOfflineQueue: true };
  if (cluster !== undefined) {
    return createCluster({
      rootNodes: cluster.nodes.map(hostAndPort).map(({ host, port }) => ({ ...credentials, socket: { ...socket, host, port } })),
      defaults: node,
      topologyRefreshOnReconnectionAttemptStrategy: 500,
    } as Parameters<typeof createCluster>[0]) as unknown as ClusterClient;
  }
  if (sentinel !== undefined) {
    const { username: user, password: secret } = sentinel;
    return createSentinel({
      name: sentinel.name,
      sentinelRootNodes: sentinel.nodes.map(hostAndPort),
      nodeClientOptions: { ...node, ...(database === undefined ? {} : { database }) },
      sentinelClientOptions: { socket: { connectTimeout }, ...(user === undefined ? {} : { username: user }), ...(secret === undefined ? {} : { password: secret }) },
      masterPoolSize: 8,
      scanInterval: 1_000,
      passthroughClientErrorEvents: true,
    } as Parameters<typeof createSentinel>[0]) as unknown as SentinelClient;
  }
  return createClient({
    ...node, ...(url === undefined ? {} : { url }), ...(database === undefined ? {} : { database }),
  } as Parameters<typeof createClient>[0]) as unknown as Single;
}

const isCluster = (client: Client): client is ClusterClient => 'masters' in client;
const isSentinel = (client: Client): client is SentinelClient => 'getSentinelNode' in client;

class NodeRedis implements RedisPort {
  readonly client = 'node-redis';
  readonly cluster: boolean;
  readonly keyPrefix: string;
  readonly #client: Client;
  readonly #own: boolean;
  #trouble: unknown;
  readonly #leases = new Map<Single, Leases<Single>>();
  readonly #duplicates: Common[] = [];
  /**
   * One connection of a Sentinel client's pool for all that needs none of its own. Left to itself that client takes one
   * for every command that begins before the first has got one, and never gives them back: after a burst the pool is empty.
   */
  #lease: Promise<SentinelLease> | undefined;

  constructor(client: Client, own: boolean) {
    this.#client = client;
    this.#own = own;
    this.cluster = isCluster(client);
    this.keyPrefix = client._keyPrefix?.toString() ?? '';
    // errors of the connection show in every command; without a listener the first one would end the process
    if (own) client.on('error', (error) => (this.#trouble = error));
    client.on('ready', () => (this.#trouble = undefined));
  }

  trouble(): unknown {
    return this.#trouble;
  }

  evaluate(call: Evaluation): Promise<Reply> {
    const args = this.#arguments(call);
    const client = this.#client;
    if (isCluster(client)) return client.sendCommand(String(args[3]), false, args, AS_BUFFERS);
    return isSentinel(client) ? this.#leased(client, args) : client.sendCommand(args, AS_BUFFERS);
  }

  async #leased(client: SentinelClient, args: readonly Arg[]): Promise<Reply> {
    this.#lease ??= client.acquire();
    return (await this.#lease).sendCommand(false, args, AS_BUFFERS);
  }

  /** Raw commands get no key prefix from the client. */
  #arguments({ how, script, keys, args }: Evaluation): readonly Arg[] {
    return [how, script, String(keys.length), ...keys.map((key) => this.keyPrefix + key), ...args];
  }

  async evaluateAndWait(call: Evaluation, replicas: number, timeoutMs: number): Promise<{ reply: Reply; replicas: number }> {
    const args = this.#arguments(call);
    const wait = ['WAIT', String(replicas), String(timeoutMs)];
    const client = this.#client;
    const pair = async (send: (command: readonly Arg[]) => Promise<Reply>): Promise<{ reply: Reply; replicas: number }> => {
      const [reply, reached] = await Promise.all([send(args), send(wait)]);
      return { reply, replicas: Number(reached) };
    };
    // a caller's pool may hold one connection only, and that is leased already; the pair goes out in one step there too
    if (isSentinel(client) && !this.#own) return pair((command) => this.#leased(client, command));
    if (isSentinel(client)) return client.use((lease) => pair((command) => lease.sendCommand(false, command, AS_BUFFERS)));
    const node = isCluster(client) ? await client.getNodeClientForKey(String(args[3])) : client;
    return this.#leaseOf(node).with((connection) => pair((command) => connection.sendCommand(command, AS_BUFFERS)));
  }

  async nodes(): Promise<readonly RedisNode[]> {
    const client = this.#client;
    if (isCluster(client)) {
      return Promise.all(client.masters.map(async (master) => {
        const node = await client.nodeClient(master);
        return { id: master.address, send: (args: readonly Arg[]) => node.sendCommand(args, AS_BUFFERS) };
      }));
    }
    const send = isSentinel(client)
      ? (args: readonly Arg[]) => this.#leased(client, args)
      : (args: readonly Arg[]) => client.sendCommand(args, AS_BUFFERS);
    return [{ id: '', send }];
  }

  async subscribe(channel: string, heard: (message: string) => void): Promise<void> {
    const client = this.#client;
    // a subscriber waits for its connection, and hears nothing for as long as nothing happens
    const subscriber = isCluster(client) || isSentinel(client)
      ? client.duplicate()
      : client.duplicate({ disableOfflineQueue: false, pingInterval: 10_000 });
    this.#duplicates.push(subscriber);
    subscriber.on('error', () => undefined);
    await subscriber.connect();
    await subscriber.subscribe(channel, heard);
  }

  onLost(lost: () => void): void {
    for (const event of ['error', 'reconnecting', 'end', 'node-error', 'node-disconnect', 'topology-change']) this.#client.on(event, lost);
  }

  async connect(): Promise<void> {
    if (!this.#client.isOpen) await this.#client.connect();
    else if (!this.#client.isReady) await new Promise<void>((resolve) => void this.#client.once('ready', () => resolve()));
  }

  async close(): Promise<void> {
    for (const lease of this.#leases.values()) lease.close();
    if (!this.#own) (await this.#lease?.catch(() => undefined))?.release();
    for (const duplicate of [...this.#duplicates.splice(0), ...(this.#own ? [this.#client] : [])]) {
      try {
        await duplicate.destroy();
      } catch {
        // it was not open
      }
    }
  }

  #leaseOf(node: Single): Leases<Single> {
    const known = this.#leases.get(node);
    if (known !== undefined) return known;
    const lease = new Leases(async () => {
      const connection = node.duplicate({ disableOfflineQueue: true });
      connection.on('error', () => undefined);
      await connection.connect();
      return connection;
    }, (connection) => void connection.destroy());
    this.#leases.set(node, lease);
    return lease;
  }
}
