import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { startProcess, type OwnedProcess } from './owned-process.js';
import { redisCommand, type RedisReply } from './redis-command.js';
import { tempDir } from './temp-dir.js';

/** Settings as in redis.conf; a list repeats the setting. */
export type RedisSettings = Readonly<Record<string, string | number | readonly string[]>>;

/** A real redis-server of this test's own, on a loopback port of its own, with a folder of its own. */
export interface RedisServer {
  readonly host: '127.0.0.1';
  /** Stays the same over a restart. */
  readonly port: number;
  /** redis://127.0.0.1:port (without credentials). */
  readonly url: string;
  readonly dir: string;
  readonly pid: number;
  /** One command without any client library; see redis-command.ts. */
  command(...args: readonly (string | number)[]): Promise<RedisReply>;
  /** CONFIG SET. */
  set(name: string, value: string | number): Promise<void>;
  /** One field of INFO. */
  info(field: string): Promise<string | undefined>;
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Orderly shutdown: saves where the settings say so, ends. The folder stays. */
  stop(): Promise<void>;
  /** SIGKILL. The folder stays. */
  kill(): Promise<void>;
  /** Stops if still running, then starts on the same port and folder; `settings` override the standing ones. */
  restart(settings?: RedisSettings): Promise<void>;
  /** Ends the server and removes its folder. Idempotent. */
  close(): Promise<void>;
  /** What the server has logged since its last start. */
  log(): string;
}

/** Without persistence and with nothing evicted: what a test of logic wants. Durability tests override it. */
const DEFAULTS: RedisSettings = {
  save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction', protected_mode: 'no', 'tcp-backlog': 128, databases: 4,
};

function settingsFile(settings: RedisSettings): string {
  return Object.entries(settings).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${name.replaceAll('_', '-')} ${one === '' ? '""' : one}`))
    .join('\n') + '\n';
}

/** The password of the settings, for our own commands. */
function authOf(settings: RedisSettings): readonly string[] | undefined {
  const password = settings['requirepass'];
  return typeof password === 'string' && password !== '' ? [password] : undefined;
}

const BIND_FAILED = /Address already in use|Failed listening|bind: /;

/** Starts redis-server and waits for its PONG. Throws one clear sentence where redis-server is not installed. */
export async function startRedis(settings: RedisSettings = {}, mode: 'server' | 'sentinel' = 'server'): Promise<RedisServer> {
  const folder = tempDir('redis');
  let standing: RedisSettings = mode === 'server' ? { ...DEFAULTS, ...settings } : settings;
  let port = await freePort();
  let child: OwnedProcess | undefined;

  const file = join(folder.path, 'redis.conf');
  const launch = async (): Promise<void> => {
    // A Sentinel keeps what it has learnt in its own file: only the first start writes it.
    if (mode === 'server' || child === undefined) {
      writeFileSync(file, settingsFile({ ...standing, bind: '127.0.0.1', port, dir: folder.path, daemonize: 'no' }));
    }
    const started = await startProcess('redis-server', [file, ...(mode === 'sentinel' ? ['--sentinel'] : [])], { cwd: folder.path })
      .catch((error: unknown) => {
        throw new Error('redis-server is not installed; `node scripts/prepare.mjs --redis` installs it', { cause: error });
      });
    child = started;
    await answering(started, port, authOf(standing));
  };

  for (let attempt = 1; ; attempt += 1) {
    try {
      await launch();
      break;
    } catch (error) {
      if (attempt === 5 || child === undefined || !BIND_FAILED.test(child.stdout())) throw error;
      child = undefined;
      port = await freePort();
    }
  }

  const running = (): OwnedProcess => child as OwnedProcess;
  const command: RedisServer['command'] = (...args) => {
    const auth = authOf(standing);
    return redisCommand(port, args, auth === undefined ? {} : { auth });
  };
  return {
    host: '127.0.0.1',
    port,
    url: `redis://127.0.0.1:${port}`,
    dir: folder.path,
    get pid() {
      return running().pid;
    },
    command,
    set: async (name, value) => {
      await command('CONFIG', 'SET', name, value);
    },
    info: async (field) => String(await command('INFO')).match(new RegExp(`^${field}:(.*?)\\r?$`, 'm'))?.[1],
    pause: () => running().pause(),
    resume: () => running().resume(),
    stop: async () => {
      await running().stop();
    },
    kill: async () => {
      await running().kill();
    },
    restart: async (changed = {}) => {
      standing = { ...standing, ...changed };
      await running().stop();
      await launch();
    },
    close: async () => {
      await running().kill();
      folder.remove();
    },
    log: () => running().stdout(),
  };
}

/** Resolves when the server answers PING (LOADING counts as not yet); rejects when it ends, or after 20 s. */
async function answering(child: OwnedProcess, port: number, auth: readonly string[] | undefined): Promise<void> {
  const until = performance.now() + 20_000;
  for (;;) {
    if (!child.running) throw new Error(`redis-server ended at start:\n${child.stdout()}${child.stderr()}`);
    const reply = await redisCommand(port, ['PING'], { timeoutMs: 500, ...(auth === undefined ? {} : { auth }) })
      .catch((error: Error) => error);
    if (reply === 'PONG') return;
    if (performance.now() > until) {
      await child.kill();
      throw new Error(`redis-server on port ${port} did not answer within 20 s: ${String(reply)}\n${child.stdout()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
