import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, Program } from './process.js';

const run = promisify(execFile);
const BUILD_LIMIT_MS = 15 * 60_000;

/** Why phase4 cannot be run here; undefined when it can. */
export async function phase4Missing(shared: string): Promise<string | undefined> {
  if (!existsSync(join(shared, 'peers/phase4/pom.xml')))
    return `there is no peers/phase4 in ${shared} (AS4_ONCE_SHARED)`;
  for (const program of ['java', 'mvn']) {
    try {
      await run(program, ['-version']);
    } catch {
      return `${program} is not installed`;
    }
  }
  return undefined;
}

/** Copies the harness to a folder of its own and builds it there, once. */
export async function buildPhase4(shared: string, folder: string): Promise<void> {
  if (existsSync(join(folder, 'target/phase4-central.jar'))) return;
  mkdirSync(folder, { recursive: true });
  cpSync(join(shared, 'peers/phase4'), folder, { recursive: true, mode: 0 });
  await run('chmod', ['-R', 'u+w', folder]);
  await run('mvn', ['-q', 'package'], { cwd: folder, timeout: BUILD_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
}

/** A phase4 receiving access point whose backend can be told to refuse or to be slow, by a restart. */
export class Phase4 {
  readonly home: string;
  readonly port: number;
  readonly deliveries: string;
  readonly #program: Program;
  #extra: readonly string[] = [];

  private constructor(home: string, work: string, port: number, persistent: boolean) {
    this.home = home;
    this.port = port;
    this.deliveries = join(work, 'delivered');
    mkdirSync(this.deliveries, { recursive: true });
    const fixed = [
      'receive',
      '--port',
      String(port),
      '--dir',
      this.deliveries,
      ...(persistent ? ['--persist', join(work, 'ids')] : []),
    ];
    this.#program = new Program(join(home, 'run.sh'), () => [...fixed, ...this.#extra], {
      folder: home,
      log: join(work, 'phase4.log'),
      ready: /^READY /m,
    });
  }

  static async start(home: string, work: string, persistent: boolean): Promise<Phase4> {
    mkdirSync(work, { recursive: true });
    const phase4 = new Phase4(home, work, await freePort(), persistent);
    await phase4.#program.start();
    return phase4;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/as4`;
  }

  /** Starts it again with other arguments (`--fail-always`, `--slow MS`), or with none. */
  async with(...extra: readonly string[]): Promise<void> {
    this.#extra = extra;
    await this.#program.restart();
  }

  async restart(how: 'restart' | 'kill'): Promise<void> {
    await this.#program.restart(how === 'kill' ? 'SIGKILL' : 'SIGTERM');
  }

  async stop(): Promise<void> {
    await this.#program.stop();
  }
}
