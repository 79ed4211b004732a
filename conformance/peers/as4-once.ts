import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, Program } from './process.js';
import { redisServer, startRedis } from './redis.js';
import type { Surroundings } from './scene.js';

/** Two processes of as4-once on one Redis: a cluster with two addresses. */
export interface Cluster {
  readonly urls: readonly string[];
  readonly hooks: {
    restart(): Promise<void>;
    kill(): Promise<void>;
    storeDown(): Promise<void>;
    storeUp(): Promise<void>;
  };
  stop(): Promise<void>;
}

/** Why as4-once cannot be run here; undefined when it can. */
export function as4OnceMissing({ project }: Surroundings): string | undefined {
  if (!existsSync(join(project, 'dist/src/cli/main.js'))) return 'dist/src/cli/main.js is not built (npm run build)';
  return redisServer(project) === undefined ? 'redis-server is not installed' : undefined;
}

/** Version of the build that is judged. */
export function as4OnceVersion({ project }: Surroundings): string {
  return (JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string }).version;
}

/** A copy of the build, so that what is judged stays the same when somebody builds meanwhile. */
function snapshot({ project, work }: Surroundings): string {
  const copy = join(work, 'build');
  cpSync(join(project, 'dist/src'), join(copy, 'dist/src'), { recursive: true });
  cpSync(join(project, 'package.json'), join(copy, 'package.json'));
  if (!existsSync(join(copy, 'node_modules'))) symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  return join(copy, 'dist/src/cli/main.js');
}

/**
 * Starts the cluster. `configuration` gets an address and the store's URL, and returns the text of a configuration
 * file.
 */
export async function startCluster(
  where: Surroundings,
  configuration: (listen: string, redis: string) => string,
): Promise<Cluster> {
  const server = redisServer(where.project);
  if (server === undefined) throw new Error('redis-server is not installed');
  const redis = await startRedis(server, where.work);
  const main = snapshot(where);
  const programs: Program[] = [];
  const urls: string[] = [];
  for (const node of ['a', 'b']) {
    const listen = `127.0.0.1:${await freePort()}`;
    const file = join(where.work, `as4-once-${node}.yaml`);
    writeFileSync(file, configuration(listen, redis.url));
    const program = new Program(
      process.execPath,
      () => [main, 'serve', '--config', file],
      { folder: where.work, log: join(where.work, `as4-once-${node}.log`), ready: /as4-once listens on/ },
    );
    await program.start();
    programs.push(program);
    urls.push(`http://${listen}/as4`);
  }
  const all = async (act: (program: Program) => Promise<void>): Promise<void> =>
    void (await Promise.all(programs.map(act)));
  return {
    urls,
    hooks: {
      restart: () => all((program) => program.restart()),
      kill: () => all((program) => program.restart('SIGKILL')),
      storeDown: () => redis.program.stop(),
      storeUp: () => redis.program.start(),
    },
    stop: async () => {
      await all((program) => program.stop());
      await redis.program.stop();
    },
  };
}
