import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, Program } from './process.js';

/** The redis-server of this machine, or of the checkout; undefined where there is none. */
export function redisServer(project: string): string | undefined {
  const own = join(project, '.redis/redis-server');
  if (existsSync(own)) return own;
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return 'redis-server';
  } catch {
    return undefined;
  }
}

/** A Redis with an append-only file, so that stopping it forgets nothing. */
export async function startRedis(server: string, work: string): Promise<{ url: string; program: Program }> {
  const folder = join(work, 'redis');
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--maxmemory-policy',
    'noeviction',
  ];
  const program = new Program(server, () => args, {
    folder,
    log: join(work, 'redis.log'),
    ready: /Ready to accept connections/,
  });
  await program.start();
  return { url: `redis://127.0.0.1:${port}`, program };
}
