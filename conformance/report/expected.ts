import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { Usage } from '../exit.js';
import { VERDICTS } from '../run/requirement.js';

const schema = z.array(z.strictObject({ id: z.string(), verdict: z.enum(VERDICTS), reason: z.string().min(1) }));

export interface Expectation {
  readonly verdict: (typeof VERDICTS)[number];
  readonly reason: string;
}

/**
 * Reads known failures: a list of `{ id, verdict, reason }`. Throws Usage with file and line for what is wrong in it.
 */
export function loadExpected(path: string, ids: ReadonlySet<string>): ReadonlyMap<string, Expectation> {
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines });
  const broken = document.errors[0];
  if (broken !== undefined)
    throw new Usage(`${path}:${lines.linePos(broken.pos[0]).line}: ${broken.message.split('\n')[0]}`);
  const lineOf = (where: readonly PropertyKey[]) => {
    const node = document.getIn(where, true) as { range?: [number, number, number] } | undefined;
    return node?.range === undefined ? 1 : lines.linePos(node.range[0]).line;
  };
  const parsed = schema.safeParse(document.toJS() ?? []);
  if (!parsed.success)
    throw new Usage(
      parsed.error.issues
        .map((issue) => `${path}:${lineOf(issue.path.slice(0, 1))}: ${issue.path.join('.')}: ${issue.message}`)
        .join('\n'),
    );
  const found = new Map<string, Expectation>();
  for (const [index, { id, verdict, reason }] of parsed.data.entries()) {
    if (!ids.has(id)) throw new Usage(`${path}:${lineOf([index])}: no requirement ${id}`);
    if (found.has(id)) throw new Usage(`${path}:${lineOf([index])}: ${id} a second time`);
    found.set(id, { verdict, reason });
  }
  return found;
}
