import { startRedis, type RedisServer } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import type { Ledger } from '../../src/ledger/port.js';
import type { Settings } from './front-process.js';

/** The ledgers a front can have, each on its real engine; a test that holds for one holds for all. */
export const ENGINES = ['embedded', 'redis with ioredis', 'redis with node-redis'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface Engine {
  /** `ledger:` and the folders of the configuration file. */
  readonly settings: Settings;
  /** Another look at the ledger, from outside the front. */
  open(): Promise<Ledger>;
  /** The server, where there is one. */
  readonly redis?: RedisServer;
  /** The same ledger reached through another port (a proxy). */
  through(port: number): Settings;
  close(): Promise<void>;
}

export async function startEngine(name: EngineName): Promise<Engine> {
  const folder = tempDir('front-ledger');
  if (name === 'embedded') {
    const settings = { ledger: { embedded: folder.path } };
    return {
      settings,
      open: async () => lmdbLedger({ path: folder.path, oneShot: true }),
      through: () => settings,
      close: async () => folder.remove(),
    };
  }
  // every write is on disk before it is answered, so that a kill of the server itself loses nothing
  const redis = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
  const client = name === 'redis with ioredis' ? 'ioredis' : 'node-redis';
  const folders = { journal: `${folder.path}/journal`, spool: `${folder.path}/spool`, state: `${folder.path}/state` };
  const through = (port: number): Settings => ({ ledger: { redis: { url: `redis://127.0.0.1:${port}`, client } }, ...folders });
  return {
    settings: through(redis.port),
    open: async () => await (await import('../../src/ledger/redis/index.js')).redisLedger({ url: redis.url, client }),
    redis,
    through,
    close: async () => {
      await redis.close();
      folder.remove();
    },
  };
}
