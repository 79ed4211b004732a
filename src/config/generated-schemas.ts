import { z } from 'zod';
import { API_SCHEMAS } from '../admin/api-schema.js';
import { COMMAND_SCHEMAS, importLineSchema } from '../admin/command-schema.js';
import { ledgerRecordSchema, shownRecordSchema } from '../ledger/schema.js';
import { configSchema } from './schema.js';

/**
 * The JSON Schema of the configuration file as it is written (draft 2020-12), for editors: what each field means, its
 * values and its default. Stricter checks (durations that contradict each other, partners that tie) are the loader's.
 */
function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const { as } = jsonSchema as { as?: object };
      delete jsonSchema['secret'];
      if (as === undefined) return;
      const kept = { description: jsonSchema.description, id: jsonSchema.id };
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
      Object.assign(jsonSchema, as);
      for (const [key, value] of Object.entries(kept)) {
        if (value !== undefined && !(key in jsonSchema)) Object.assign(jsonSchema, { [key]: value });
      }
    },
  });
  return { ...schema, title: 'as4-once configuration' };
}

/** Shapes by their name in $defs. */
function definitions(title: string, schemas: Readonly<Record<string, z.ZodType>>): object {
  const $defs = Object.entries(schemas).map(([name, schema]) => {
    const { $schema: _, ...shape } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: name.endsWith('Request') ? 'input' : 'output' });
    return [name, shape] as const;
  });
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, $defs: Object.fromEntries($defs) };
}

/** Every file of schemas/ that is generated from the code: its name and its text. */
export function generatedSchemas(): ReadonlyMap<string, string> {
  const record = z.toJSONSchema(ledgerRecordSchema, { target: 'draft-2020-12', io: 'output' });
  // settle and release print one, show and list a list
  const one = z.union([shownRecordSchema, z.array(shownRecordSchema)]);
  const shown = z.toJSONSchema(one, { target: 'draft-2020-12', io: 'output' });
  const line = z.toJSONSchema(importLineSchema, { target: 'draft-2020-12', io: 'input' });
  return new Map([
    ['config.schema.json', text(configJsonSchema())],
    ['admin-api.schema.json', text(definitions('as4-once admin API', API_SCHEMAS))],
    ['ledger-record.schema.json', text({ ...record, title: 'as4-once ledger record' })],
    ['records.schema.json', text({ ...shown, title: 'as4-once records for operators' })],
    ['commands.schema.json', text(definitions('as4-once commands with --json', COMMAND_SCHEMAS))],
    ['import-line.schema.json', text({ ...line, title: 'as4-once import, one line' })],
  ]);
}

function text(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
