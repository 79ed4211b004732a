import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { As4OnceError } from '../errors.js';
import type { Config } from './config.js';
import { inspectConfig, type Loaded } from './load.js';
import { checkPems, pemFiles, ReplacedFiles } from './replaced-files.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The configuration of a running server: the file as it was last read on purpose (start, SIGHUP), with passwords,
 * tokens, certificates and keys as their own files hold them now.
 */
export class LiveConfig {
  readonly #file: string;
  readonly #env: Env;
  #text: string;
  #replaced: ReplacedFiles;
  #config: Config;

  /** @throws As4OnceError CONFIG_INVALID */
  constructor(file: string, env: Env) {
    this.#file = file;
    this.#env = env;
    this.#text = textOf(file);
    this.#replaced = new ReplacedFiles([]);
    this.#config = this.#take(this.#text);
  }

  get config(): Config {
    return this.#config;
  }

  /** Reads the file again. @throws As4OnceError CONFIG_INVALID; then the old one stays in force. */
  reload(): Config {
    const text = textOf(this.#file);
    const config = this.#take(text);
    this.#text = text;
    return config;
  }

  /**
   * Where a file that the configuration names was replaced: the same configuration with what the files hold now. An
   * edit of the configuration itself waits for its SIGHUP. @throws As4OnceError CONFIG_INVALID while the new files do
   * not fit each other; the old ones stay in force and the next call tries again.
   */
  refresh(): Config | undefined {
    return this.#replaced.any ? this.#take(this.#text) : undefined;
  }

  #take(text: string): Config {
    const { files, config: named } = this.#load(text);
    // stamps before the read that counts: what is replaced meanwhile shows at the next look
    const replaced = new ReplacedFiles([...files, ...pemFiles(named)]);
    const { config } = this.#load(text);
    checkPems(config);
    this.#replaced = replaced;
    this.#config = config;
    return config;
  }

  #load(text: string): Loaded {
    return inspectConfig({ text, name: this.#file }, { env: this.#env, base: dirname(this.#file) });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new As4OnceError('CONFIG_INVALID', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}
