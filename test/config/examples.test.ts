import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.js';
import { matchSchema, ruleFields } from '../../src/config/rule-schema.js';
import type { PartnerRule } from '../../src/policy/select.js';

const folder = fileURLToPath(new URL('../../examples/policy/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

/** What an example's own lines say, field by field: `mode: shadow`, `replyHeaders`, `match.from`. */
function shown(name: string): Set<string> {
  const text = readFileSync(folder + name, 'utf8').replaceAll(/^#.*$/gm, '');
  const said = new Set<string>();
  for (const [, field, value] of text.matchAll(/\b([A-Za-z0-9]+): *\[?([^\s,\]}]*)/g)) said.add(`${field}: ${value}`).add(String(field));
  return said;
}

describe('examples/policy', () => {
  it.each(files)('%s loads, and begins by saying what it shows', (name) => {
    expect(() => loadConfig(folder + name, { env: {} })).not.toThrow();
    const head = readFileSync(folder + name, 'utf8').split('\n\n')[0] ?? '';
    expect(head).toMatch(/^(#.*\n)+# as4-once check --config examples\/policy\/\S+\.yaml$/);
    expect(head).toContain(`examples/policy/${name}`);
  });

  it('holds one for every value of every policy field', () => {
    const said = new Set(files.flatMap((name) => [...shown(name)]));
    const missing: string[] = [];
    for (const [field, type] of Object.entries(ruleFields)) {
      // previousKey takes the values of key; one example shows what it is for
      const values = field === 'previousKey' ? [] : enumValues(z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }));
      for (const value of values) if (!said.has(`${field}: ${value}`)) missing.push(`${field}: ${value}`);
      if (values.length === 0 && !said.has(field)) missing.push(field);
    }
    for (const criterion of Object.keys(matchSchema.shape)) if (!said.has(criterion)) missing.push(`match: { ${criterion} }`);
    expect(missing).toEqual([]);
  });

  it('match-most-criteria.yaml does what it says', () => {
    const config = loadConfig(`${folder}match-most-criteria.yaml`, { env: {} });
    expect(config.routes[0]?.rules.partners.map((p: PartnerRule) => Object.keys(p.match).length)).toEqual([1, 1, 2]);
  });
});

function enumValues(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if ('enum' in schema && Array.isArray(schema.enum)) return schema.enum.map(String);
  return Object.values(schema).flatMap(enumValues);
}
