import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { ROOT } from '../support/child.js';

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** Path from the project's root of a relative import, with `.ts`; undefined for packages and built-ins. */
  readonly target: string | undefined;
  /** `import type`: leaves no trace at run time. */
  readonly typeOnly: boolean;
}

export interface Source {
  /** Path from the project's root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the insides of strings and templates blanked; the same length and lines. */
  readonly code: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

const IGNORED = new Set(['node_modules', 'dist', '.git', 'coverage', 'reports', 'demo-data']);

/** Every file of the checkout that is ours, as paths from the root with `/`. */
export function projectFiles(under = ''): string[] {
  return readdirSync(join(ROOT, under), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    return entry.isDirectory() ? projectFiles(path) : entry.isFile() ? [path] : [];
  }).sort();
}

/** The TypeScript sources under one folder. */
export function sources(under: string): Source[] {
  return projectFiles(under).filter((path) => path.endsWith('.ts')).map(readSource);
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, code: blanked(text), lines: text.split('\n').length - 1, imports: importsOf(path, text) };
}

const IMPORT = /^[ \t]*(import|export)\b([^;'"]*?)\bfrom\s*'([^']+)'|^[ \t]*import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

/** Finds imports by their text: the compiler in use has no JavaScript interface to ask. */
function importsOf(path: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const specifier = match[3] ?? match[4] ?? match[5] ?? '';
    const target = specifier.startsWith('.')
      ? posix.join(dirname(path).split(sep).join('/'), specifier).replace(/\.js$/, '.ts')
      : undefined;
    return { specifier, target, typeOnly: match[2] !== undefined && /^\s+type\b/.test(match[2]) };
  });
}

/**
 * Blanks comments and the insides of strings, so that a word in a sentence is not taken for a call. Template
 * literals are blanked but for their `${…}`. Regular expressions are left alone; a quote inside one must be escaped.
 */
export function blanked(text: string): string {
  let out = '';
  let at = 0;
  const templates: number[] = [];
  let depth = 0;
  const blank = (to: number): void => {
    out += text.slice(at, to).replace(/[^\n]/g, ' ');
    at = to;
  };
  const templateText = (): void => {
    let end = at;
    while (end < text.length && text[end] !== '`' && !(text[end] === '$' && text[end + 1] === '{')) end += text[end] === '\\' ? 2 : 1;
    blank(Math.min(end, text.length));
    if (text[at] === '$') {
      templates.push(depth);
      depth += 1;
      out += '${';
      at += 2;
    } else if (at < text.length) {
      out += '`';
      at += 1;
    }
  };
  while (at < text.length) {
    const two = text.slice(at, at + 2);
    const one = text[at] as string;
    if (two === '//') blank(endOr(text.indexOf('\n', at), text));
    else if (two === '/*') blank(endOr(text.indexOf('*/', at + 2), text, 2));
    else if (one === "'" || one === '"') {
      let end = at + 1;
      while (end < text.length && text[end] !== one && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
      out += one;
      at += 1;
      blank(end);
      out += text[at] ?? '';
      at += 1;
    } else if (one === '`') {
      out += one;
      at += 1;
      templateText();
    } else {
      if (one === '{') depth += 1;
      if (one === '}') depth -= 1;
      out += one;
      at += 1;
      if (one === '}' && templates.at(-1) === depth) {
        templates.pop();
        templateText();
      }
    }
  }
  return out;
}

function endOr(found: number, text: string, more = 0): number {
  return found < 0 ? text.length : found + more;
}

