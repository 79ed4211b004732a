import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type { Path, Problem } from './problem.js';

/** A configuration as it was written: its values, all of them text, and where each one stands. */
export interface Source {
  readonly value: unknown;
  /** Line and column, from 1, of the value at `path`, of its key, or of the nearest thing that exists. */
  locate(path: Path, what?: 'value' | 'key'): { readonly line: number; readonly column: number };
  readonly problems: readonly Problem[];
}

/** Ten thousand partners take about 2 MB; beyond this it is not a configuration. */
const LONGEST = 32 * 1_024 * 1_024;

/** What is no YAML breaks at every line; the first places tell as much as all of them. */
const SHOWN = 5;
/** Characters of one of them. */
const SAID = 160;

/**
 * Reads YAML (or JSON) without guessing types: an identifier such as `0088123` or `1e5` stays the text that it is.
 * Never throws for what can stand in a file; problems of the syntax have an empty path and a position.
 */
export function readSource(text: string): Source {
  const lines = new LineCounter();
  if (text.length > LONGEST) {
    return { value: undefined, locate: () => ({ line: 1, column: 1 }), problems: [broken('the file is too long')] };
  }
  const document = parseDocument(text, {
    schema: 'failsafe', merge: true, lineCounter: lines, prettyErrors: false, uniqueKeys: true, logLevel: 'error',
  });
  const at = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems = document.errors.slice(0, SHOWN).map((fault): Problem =>
    ({ ...broken(firstLine(fault.message)), position: at(fault.pos[0]) }));
  const more = document.errors.length - SHOWN;
  if (more > 0) problems.push({ ...broken(`and ${more.toLocaleString('en')} more problems; is it YAML at all?`), position: at(text.length) });
  let value: unknown;
  if (problems.length === 0) {
    try {
      value = document.toJS({ maxAliasCount: 100 });
    } catch (error) {
      problems.push(broken(error instanceof Error ? firstLine(error.message) : String(error)));
    }
  }
  return { value, problems, locate: (path, what = 'value') => at(offsetOf(document, path, what)) };
}

function broken(text: string): Problem {
  return { level: 'error', code: 'YAML', at: [], text: `not readable as YAML: ${text}` };
}

function firstLine(message: string): string {
  const line = message.split(/;| at line |\n/)[0] ?? message;
  return line.length > SAID ? `${line.slice(0, SAID)}…` : line;
}

function offsetOf(document: Document, path: Path, what: 'value' | 'key'): number {
  let node: unknown = document.contents;
  let offset = start(node) ?? 0;
  for (const [depth, step] of path.entries()) {
    const found = below(document, node, step);
    // what may be one or a list has an index in our words even where it was written as one
    if (found === undefined && step === 0) continue;
    if (found === undefined) return offset;
    const last = depth === path.length - 1;
    const own = last && what === 'key' ? found.key : found.value;
    offset = start(own) ?? start(found.key) ?? offset;
    node = found.value;
  }
  return offset;
}

interface Pair {
  readonly key: unknown;
  readonly value: unknown;
}

/** The entry of a mapping or list; a mapping also through `<<`, and a value by the file that it was read from. */
function below(document: Document, node: unknown, step: string | number): Pair | undefined {
  const target = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(target)) return { key: undefined, value: target.items[Number(step)] };
  if (!isMap(target)) return undefined;
  const named = (name: string): Pair | undefined =>
    target.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name);
  const own = named(String(step)) ?? named(`${step}File`);
  const merged = own === undefined ? named('<<') : undefined;
  return merged === undefined ? own : below(document, merged.value, step);
}

function start(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
