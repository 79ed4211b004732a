import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { As4OnceError } from '../errors.js';
import { crossChecks, type CheckOptions } from './checks.js';
import { assemble, located, type Assembled, type Config } from './config.js';
import { pathText, schemaProblems, type Problem } from './problem.js';
import { rememberSecrets, scrub, type Secrets } from './redact.js';
import { configSchema } from './schema.js';
import { readSource, type Source } from './source.js';
import { substitute } from './substitute.js';

/** A file, the text of one, or its content as an object that a program hands in. */
export type ConfigSource =
  | { readonly file: string }
  | { readonly text: string; readonly name?: string }
  | { readonly value: object; readonly name?: string };

export interface LoadOptions extends CheckOptions {
  /** Where `${NAME}` is looked up. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths count from. Default: the file's folder, or the current one. */
  readonly base?: string;
}

/** Characters of one problem. */
const LONGEST_LINE = 500;

/** A configuration that is in order, with what `check` would warn about. */
export interface Loaded extends Assembled {
  readonly warnings: readonly Problem[];
  /** Files that values were read from (`…File:`), absolute. */
  readonly files: readonly string[];
  /** Problems that were found later, with their places in the file. @throws As4OnceError CONFIG_INVALID where one is an error. */
  judged(problems: readonly Problem[]): readonly Problem[];
}

/**
 * Reads and checks a configuration. A bad one throws CONFIG_INVALID; its detail holds one line for each problem,
 * `file:line:column path.to.field: what is wrong and what would be right`. The result is frozen.
 */
export function loadConfig(source: ConfigSource | string, options: LoadOptions = {}): Config {
  return inspectConfig(source, options).config;
}

/** Like loadConfig, with the warnings. A string is the name of a file. */
export function inspectConfig(given: ConfigSource | string, options: LoadOptions = {}): Loaded {
  const source: ConfigSource = typeof given === 'string' ? { file: given } : given;
  const name = 'file' in source ? source.file : (source.name ?? 'configuration');
  const base = resolve(options.base ?? ('file' in source ? dirname(source.file) : '.'));
  const absolute = (path: string): string => (isAbsolute(path) ? path : join(base, path));
  const written = read(source, name);
  refuse(written.problems, name, written, new Map());

  const env = options.env ?? process.env;
  const files = new Set<string>();
  const readFile = (path: string): string => {
    files.add(absolute(path));
    return readFileSync(absolute(path), 'utf8');
  };
  const { value, problems, secrets } = substitute(written.value, { env, readFile });
  refuse(problems, name, written, secrets);
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) throw invalid(schemaProblems(parsed.error.issues, value), name, written, secrets);

  const assembled = assemble(located(parsed.data, absolute), base);
  const judged = (found: readonly Problem[]): readonly Problem[] => {
    refuse(found, name, written, secrets);
    return found.map((problem) => placed(problem, written, secrets));
  };
  const warnings = judged(crossChecks(assembled, options));
  const config = frozen(assembled.config);
  rememberSecrets(config, secrets.keys());
  return { config, partners: assembled.partners, warnings, files: [...files], judged };
}

/** `file:line:column path.to.field: text` */
export function problemText(problem: Problem, name: string): string {
  const { position } = problem;
  const where = position === undefined ? name : `${name}:${position.line}:${position.column}`;
  const what = problem.at.length === 0 ? problem.text : `${pathText(problem.at)}: ${problem.text}`;
  return `${where} ${oneLine(what)}`;
}

/** A value or key of the file may hold anything; a problem is one line, and one that can be read. */
function oneLine(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return clean.length > LONGEST_LINE ? `${clean.slice(0, LONGEST_LINE)}…` : clean;
}

function read(source: ConfigSource, name: string): Source {
  if ('value' in source) return { value: source.value, locate: () => ({ line: 0, column: 0 }), problems: [] };
  if ('text' in source) return readSource(source.text);
  try {
    return readSource(readFileSync(source.file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new As4OnceError('CONFIG_INVALID', `${name} cannot be read (${why})`);
  }
}

function refuse(problems: readonly Problem[], name: string, written: Source, secrets: Secrets): void {
  const errors = problems.filter((problem) => problem.level === 'error');
  if (errors.length > 0) throw invalid(errors, name, written, secrets);
}

function invalid(problems: readonly Problem[], name: string, written: Source, secrets: Secrets): As4OnceError {
  const lines = problems.map((problem) => placed(problem, written, secrets)).sort(byPosition);
  return new As4OnceError('CONFIG_INVALID', lines.map((problem) => problemText(problem, name)).join('\n'));
}

/** With its place in the file, and without any secret in its text. */
function placed(problem: Problem, written: Source, secrets: Secrets): Problem {
  const clean = { ...problem, text: scrub(problem.text, secrets) };
  if (problem.position !== undefined) return clean;
  const position = written.locate(problem.at, problem.key === true ? 'key' : 'value');
  return position.line === 0 ? clean : { ...clean, position };
}

function byPosition(a: Problem, b: Problem): number {
  const [p, q] = [a.position ?? { line: 0, column: 0 }, b.position ?? { line: 0, column: 0 }];
  return p.line - q.line || p.column - q.column;
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) frozen(item as unknown);
  return Object.freeze(value);
}
