import type { z } from 'zod';

/** Where something stands in the configuration: keys and positions in lists. */
export type Path = readonly (string | number)[];

/** One thing that is wrong, or that will surprise. Errors keep the file out of force; warnings do not. */
export interface Problem {
  readonly level: 'error' | 'warning';
  /** Stable, upper case. */
  readonly code: string;
  readonly at: Path;
  /** What is wrong, and what would be right. Never a secret. */
  readonly text: string;
  /** Whether the key is meant, and not its value. */
  readonly key?: true;
  readonly position?: { readonly line: number; readonly column: number };
}

export function error(code: string, at: Path, text: string): Problem {
  return { level: 'error', code, at, text };
}

export function warning(code: string, at: Path, text: string): Problem {
  return { level: 'warning', code, at, text };
}

/** `routes[0].upstream.url` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) =>
    typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`, '');
}

/** What the schema found, in sentences. */
export function schemaProblems(issues: readonly z.core.$ZodIssue[], value: unknown): readonly Problem[] {
  const problems = issues.flatMap((issue) => problemsOf(issue, [], value));
  // A mapping with a mistyped key also "needs at least one of" the key that was meant: one sentence is enough.
  const unknown = problems.filter(({ code }) => code === 'UNKNOWN_KEY');
  const mistyped = new Set(unknown.map(({ at }) => pathText(at.slice(0, -1))));
  return problems.filter((problem) => problem.code !== 'COMBINATION' || !mistyped.has(pathText(problem.at)));
}

function problemsOf(issue: z.core.$ZodIssue, above: Path, value: unknown): readonly Problem[] {
  const at = [...above, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message.split(',');
    return issue.keys.map((name): Problem =>
      ({ ...error('UNKNOWN_KEY', [...at, name], `unknown key; ${suggestion(name, known)}`), key: true }));
  }
  if (issue.code === 'invalid_union') {
    const inner = branch(issue.errors, get(value, at));
    if (inner !== undefined) return inner.flatMap((one) => problemsOf(one, at, value));
  }
  const given = get(value, at);
  if (given === undefined && issue.code === 'invalid_type') return [error('MISSING', at, 'is missing')];
  const combined = issue.code === 'custom' && typeof given === 'object';
  return [error(combined ? 'COMBINATION' : 'INVALID', at, sentence(issue, given))];
}

/** Of a union's branches the one that was meant: a mapping or list that failed further in, not on its own kind. */
function branch(
  errors: readonly (readonly z.core.$ZodIssue[])[], given: unknown,
): readonly z.core.$ZodIssue[] | undefined {
  if (typeof given !== 'object' || given === null) {
    return errors.find((issues) => issues.every((issue) => !issue.message.startsWith('Invalid')));
  }
  return errors.find((issues) => !issues.some((issue) => issue.path.length === 0 && wrongKind(issue)));
}

function wrongKind(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union';
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'a mapping (key: value)', array: 'a list', string: 'text', boolean: 'true or false',
};

function sentence(issue: z.core.$ZodIssue, given: unknown): string {
  if (issue.code === 'invalid_value') {
    const words = issue.values.map(String);
    const near = typeof given === 'string' ? nearest(given, words) : undefined;
    return `must be one of ${words.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`;
  }
  if (issue.code === 'too_big') return `must not be longer than ${issue.maximum}`;
  // What our own schemas say in words of their own stands as it is; the rest is put into ours.
  if (!/^(Invalid|Too small)/.test(issue.message)) return issue.message;
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'too_small') return 'must not be empty';
  return issue.code === 'invalid_format' ? `must look like ${issue.pattern ?? issue.format}` : issue.message;
}

function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`;
}

/** The known word with the fewest changes, if they are few for its length. Case and `-`, `_` do not count. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replace(/[-_]/g, '').slice(0, 60);
  let best: { text: string; changes: number } | undefined;
  for (const text of known) {
    const changes = distance(plain(word), plain(text));
    if (best === undefined || changes < best.changes) best = { text, changes };
  }
  return best !== undefined && best.changes <= Math.max(1, Math.floor(best.text.length / 3)) ? best.text : undefined;
}

/** Levenshtein distance with neighbours swapped counted as one change. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

function get(value: unknown, path: Path): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}
