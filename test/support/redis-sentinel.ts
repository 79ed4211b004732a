import { startRedis, type RedisServer, type RedisSettings } from './redis-server.js';

export interface RedisSentinels {
  /** Name of the watched group, for clients. */
  readonly name: string;
  /** In the order they were started; the first one was the first master. */
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** Whom the first living Sentinel calls the master now. */
  master(): Promise<RedisServer>;
  /** Resolves when another server than `old` is called master by every living Sentinel, and says so of itself. */
  failedOver(old: RedisServer, timeoutMs?: number): Promise<RedisServer>;
  close(): Promise<void>;
}

const NAME = 'as4-once';

/** A master with two replicas and three Sentinels (quorum 2) that call a master dead after one second. */
export async function startRedisSentinels(settings: RedisSettings = {}): Promise<RedisSentinels> {
  const started: RedisServer[] = [];
  const keep = (server: RedisServer): RedisServer => {
    started.push(server);
    return server;
  };
  const close = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.close()));
  };
  try {
    const fast = { 'repl-diskless-sync-delay': 0, 'repl-ping-replica-period': 1, ...settings };
    const first = keep(await startRedis(fast));
    const replicas = await Promise.all([1, 2].map(async () =>
      keep(await startRedis({ ...fast, replicaof: `127.0.0.1 ${first.port}` }))));
    await Promise.all(replicas.map((replica) => until(async () => (await replica.info('master_link_status')) === 'up', 'a replica to follow')));
    const sentinels = await Promise.all([1, 2, 3].map(async () => keep(await startRedis({
      sentinel: [
        `monitor ${NAME} 127.0.0.1 ${first.port} 2`, `down-after-milliseconds ${NAME} 1000`,
        `failover-timeout ${NAME} 5000`, `parallel-syncs ${NAME} 2`,
      ],
    }, 'sentinel'))));
    const sees = async (sentinel: RedisServer, field: string): Promise<number> => {
      const fields = await sentinel.command('SENTINEL', 'MASTER', NAME) as string[];
      return Number(fields[fields.indexOf(field) + 1]);
    };
    await Promise.all(sentinels.map((sentinel) => until(
      async () => (await sees(sentinel, 'num-slaves')) === 2 && (await sees(sentinel, 'num-other-sentinels')) === 2,
      'the Sentinels to know each other')));
    const servers = [first, ...replicas];
    const called = async (sentinel: RedisServer): Promise<RedisServer | undefined> => {
      const address = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME).catch(() => undefined) as string[] | undefined;
      return servers.find((server) => String(server.port) === address?.[1]);
    };
    const names = async (): Promise<RedisServer[]> =>
      (await Promise.all(sentinels.map(called))).filter((server) => server !== undefined);
    const master = async (): Promise<RedisServer> => {
      const [name] = await names();
      if (name === undefined) throw new Error('no Sentinel answers');
      return name;
    };
    const failedOver = async (old: RedisServer, timeoutMs = 30_000): Promise<RedisServer> => {
      await until(async () => {
        const all = await names();
        const [name] = all;
        if (name === undefined || name === old || all.some((other) => other !== name)) return false;
        return (await name.info('role').catch(() => undefined)) === 'master';
      }, 'the failover', timeoutMs);
      return master();
    };
    return { name: NAME, servers, sentinels, master, failedOver, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function until(holds: () => Promise<boolean>, what: string, timeoutMs = 30_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
