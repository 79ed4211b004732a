import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../support/child.js';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];
const file = (name: string): unknown => JSON.parse(readFileSync(join(ROOT, 'schemas', name), 'utf8'));
const { $defs } = file('commands.schema.json') as { $defs: Readonly<Record<string, JsonSchema>> };
const shapes = new Map<string, z.ZodType>();

/** The shape that schemas/ promises for what a command prints with --json. */
function shapeOf(args: readonly string[], code: number): string {
  const [command = '', what = ''] = args;
  switch (command) {
    case 'show': case 'list': return 'records';
    case 'settle': case 'release': return args.includes('--token') ? `${command}Token` : 'records';
    case 'check': return code === 2 ? 'checkRefused' : 'check';
    case 'report': return args.includes('--shadow') ? 'shadowReport' : 'report';
    case 'ledger': return what === 'backup' ? 'ledgerBackup' : 'ledgerStatus';
    case 'verify': return 'verification';
    default: return command;
  }
}

export function shape(name: string): z.ZodType {
  const known = shapes.get(name);
  if (known !== undefined) return known;
  const schema = name === 'records' || name === 'import-line' ? (file(`${name}.schema.json`) as JsonSchema) : $defs[name];
  if (schema === undefined) throw new Error(`schemas/commands.schema.json has no ${name}`);
  const made = z.fromJSONSchema(schema);
  shapes.set(name, made);
  return made;
}

/** Names of the shapes that an output has been held against in this process. */
export const held = new Set<string>();

/** Throws unless the output has the shape that schemas/ promises. */
export function asDocumented(args: readonly string[], code: number, output: unknown): void {
  const name = shapeOf(args, code);
  const { error } = shape(name).safeParse(output);
  if (error !== undefined) throw new Error(`${args.join(' ')} prints something else than schemas/ says of ${name}: ${error.message}`);
  held.add(name);
}
