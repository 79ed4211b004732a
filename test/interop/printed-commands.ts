import { spawn } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, built } from '../support/child.js';

export interface Typed {
  readonly command: string;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A terminal in a folder of its own, in which somebody copies commands from a page, word for word: `as4-once` is on the
 * path, the folder and AS4_ONCE_CONFIG stay as the commands before left them.
 */
export class Terminal {
  readonly home: string;
  #cwd: string;
  #config = '';

  constructor(home: string) {
    this.home = home;
    this.#cwd = home;
    mkdirSync(join(home, '.bin'));
    const program = join(home, '.bin', 'as4-once');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${built('dist/src/cli/main.js')}' "$@"\n`);
    chmodSync(program, 0o755);
  }

  /** Back to where the story began: each page begins there. */
  goHome(): void {
    this.#cwd = this.home;
  }

  async type(command: string): Promise<Typed> {
    const file = (name: string): string => join(this.home, `.${name}`);
    // into files: a server that is started in the background keeps them, and nobody waits for it
    const [out, err] = [openSync(file('out'), 'w'), openSync(file('err'), 'w')];
    const script = 'eval "$1"; code=$?; pwd > "$2"; printf %s "${AS4_ONCE_CONFIG-}" > "$3"; exit $code';
    const { AS4_ONCE_CONFIG: _, ...inherited } = process.env;
    const child = spawn('bash', ['-c', script, 'bash', command, file('cwd'), file('config')], {
      cwd: this.#cwd,
      env: {
        ...inherited,
        NO_COLOR: '1',
        PATH: `${join(this.home, '.bin')}:${process.env['PATH'] ?? ''}`,
        ...(this.#config === '' ? {} : { AS4_ONCE_CONFIG: this.#config }),
      },
      stdio: ['ignore', out, err],
    });
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (status) => resolve(status ?? -1));
    });
    closeSync(out);
    closeSync(err);
    this.#cwd = readFileSync(file('cwd'), 'utf8').trim();
    this.#config = readFileSync(file('config'), 'utf8');
    return { command, code, stdout: readFileSync(file('out'), 'utf8'), stderr: readFileSync(file('err'), 'utf8') };
  }

  /** The process that a page's `echo $! > as4-once.pid` named; undefined where it has ended. */
  get server(): number | undefined {
    const file = join(this.home, 'as4-once.pid');
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : NaN;
    try {
      return Number.isSafeInteger(pid) && process.kill(pid, 0) ? pid : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The commands that a page prints after a `$`, in their order. */
export class Page {
  readonly name: string;
  readonly #left: string[];

  constructor(name: string) {
    this.name = name;
    const text = readFileSync(join(ROOT, name), 'utf8');
    this.#left = [...text.matchAll(/^\$ (.+)$/gm)].map(([, command = '']) => command);
  }

  /** Those that nobody has typed yet. */
  get left(): readonly string[] {
    return this.#left;
  }

  /** The next one; a page that says something else than the story expects is a story to be written anew. */
  next(like: RegExp): string {
    const [command] = this.#left;
    if (command === undefined || !like.test(command)) throw new Error(`${this.name} goes on with ${command}, not ${like}`);
    this.#left.shift();
    return command;
  }
}
