import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { checkFiles } from './check-files.js';
import type { Config } from './config.js';
import { inspectConfig, type Loaded } from './load.js';
import { pemFiles, ReplacedFiles } from './replaced-files.js';

/** Puts a configuration in force; where that throws, it is not. */
type Put = (next: Config) => void;
type Env = Readonly<Record<string, string | undefined>>;

/**
 * The configuration of a running server: the file as it was last read on purpose (start, SIGHUP), with passwords,
 * tokens, certificates and keys as their own files hold them now.
 */
export class LiveConfig {
  readonly #file: string;
  readonly #env: Env;
  readonly #clock: Clock;
  #text: string;
  #replaced: ReplacedFiles;
  #config: Config;
  /** The last read, ended or not: it is in force, or refused, before the next begins, so that none brings an older state back. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(file: string, env: Env, clock: Clock, first: Taken) {
    this.#file = file;
    this.#env = env;
    this.#clock = clock;
    this.#text = first.text;
    this.#replaced = first.replaced;
    this.#config = first.config;
  }

  /** Reads a file and what it names. @throws As4OnceError CONFIG_INVALID */
  static async open(file: string, env: Env, clock: Clock): Promise<LiveConfig> {
    return new LiveConfig(file, env, clock, await take(file, textOf(file), env, clock));
  }

  get config(): Config {
    return this.#config;
  }

  /** Reads the file again, and has it put in force. @throws As4OnceError CONFIG_INVALID; then the old one stays in force. */
  async reload(put: Put = () => undefined): Promise<Config> {
    return await this.#next(async () => await this.#take(textOf(this.#file), put));
  }

  /**
   * Where a file that the configuration names was replaced: the same configuration with what the files hold now. An
   * edit of the configuration itself waits for its SIGHUP. @throws As4OnceError CONFIG_INVALID while the new files do
   * not fit each other or cannot sign Receipts; the old ones stay in force and the next call tries again.
   */
  async refresh(put: Put = () => undefined): Promise<Config | undefined> {
    return await this.#next(async () => (this.#replaced.any ? await this.#take(this.#text, put) : undefined));
  }

  async #take(text: string, put: Put): Promise<Config> {
    const taken = await take(this.#file, text, this.#env, this.#clock);
    put(taken.config);
    this.#text = text;
    this.#replaced = taken.replaced;
    this.#config = taken.config;
    return taken.config;
  }

  #next<T>(read: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(read, read);
    this.#turn = turn;
    return turn;
  }
}

interface Taken {
  readonly text: string;
  readonly config: Config;
  readonly replaced: ReplacedFiles;
}

async function take(file: string, text: string, env: Env, clock: Clock): Promise<Taken> {
  const load = (): Loaded => inspectConfig({ text, name: file }, { env, base: dirname(file) });
  const { files, config: named } = load();
  // stamps before the read that counts: what is replaced meanwhile shows at the next look
  const replaced = new ReplacedFiles([...files, ...pemFiles(named)]);
  const loaded = load();
  await checkFiles(loaded, clock.now());
  return { text, config: loaded.config, replaced };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new As4OnceError('CONFIG_INVALID', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}
