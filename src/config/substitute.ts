import type { Path, Problem } from './problem.js';

/** The configuration with `${NAME}` and `…File:` replaced by what they stand for. */
export interface Substituted {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Every value that came from the environment or from a file: never printed. Value to what it is shown as. */
  readonly secrets: ReadonlyMap<string, string>;
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file named in the configuration; throws if it cannot. */
  readFile(path: string): string;
}

/** Keys that may also be written as `…File:`, with the name of a file that holds the value. */
const FROM_FILES: ReadonlySet<string> = new Set(['token', 'password', 'passphrase', 'url']);
/** No configuration is nested so deeply; a YAML alias that holds itself is. */
const DEEPEST = 64;
const REFERENCE = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Replaces `${NAME}` and `${NAME:-otherwise}` in every text (`$${NAME}` stands for itself), and `passwordFile: f` by
 * `password:` with what f holds, white space at its end removed. A name that is not set is a problem: an empty password
 * must never come about by accident.
 */
export function substitute(value: unknown, surroundings: Surroundings): Substituted {
  const problems: Problem[] = [];
  const secrets = new Map<string, string>();
  return { value: new Substitution(surroundings, problems, secrets).visit(value, []), problems, secrets };
}

class Substitution {
  readonly #surroundings: Surroundings;
  readonly #problems: Problem[];
  readonly #secrets: Map<string, string>;

  constructor(surroundings: Surroundings, problems: Problem[], secrets: Map<string, string>) {
    this.#surroundings = surroundings;
    this.#problems = problems;
    this.#secrets = secrets;
  }

  visit(value: unknown, at: Path): unknown {
    if (at.length > DEEPEST) {
      this.#problems.push({ level: 'error', code: 'NESTED', at: at.slice(0, 3), text: 'is nested too deeply, or refers to itself' });
      return undefined;
    }
    if (typeof value === 'string') return this.#text(value, at);
    if (Array.isArray(value)) return value.map((item, i) => this.visit(item, [...at, i]));
    if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => this.#entry(key, item, value, at)));
  }

  #entry(key: string, item: unknown, all: object, at: Path): readonly [string, unknown] {
    const visited = this.visit(item, [...at, key]);
    const name = key.endsWith('File') ? key.slice(0, -4) : '';
    if (!FROM_FILES.has(name) || typeof visited !== 'string') return [key, visited];
    if (Object.hasOwn(all, name)) {
      this.#problem('TWICE', [...at, key], `${name} is given too; leave one of them out`);
      return [key, visited];
    }
    try {
      const content = this.#surroundings.readFile(visited).replace(/\s+$/, '');
      if (content === '') this.#problem('EMPTY_FILE', [...at, key], 'the file is empty');
      this.#secrets.set(content, `(from ${key})`);
      return [name, content];
    } catch (error) {
      const why = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
      this.#problem('UNREADABLE_FILE', [...at, key], `the file cannot be read (${why})`);
      return [key, visited];
    }
  }

  #text(text: string, at: Path): string {
    const replaced = (whole: string, escaped: string | undefined, name: string, otherwise?: string): string => {
      if (escaped !== undefined) return whole.slice(1);
      const given = Object.hasOwn(this.#surroundings.env, name) ? this.#surroundings.env[name] : undefined;
      if (given === undefined || given === '') {
        if (otherwise === undefined) this.#problem('NOT_SET', at, `the environment variable ${name} is not set`);
        return otherwise ?? '';
      }
      this.#secrets.set(given, `\${${name}}`);
      return given;
    };
    return text.replace(REFERENCE, replaced);
  }

  #problem(code: string, at: Path, text: string): void {
    this.#problems.push({ level: 'error', code, at, text });
  }
}

/** A client or function that a program hands in is nobody's text to replace. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
