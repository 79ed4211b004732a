import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { generatedSchemas } from '../../src/config/generated-schemas.js';
import { SMALLEST } from './smallest.js';

const root = new URL('../../', import.meta.url);
const schema = (): Record<string, unknown> => JSON.parse(generatedSchemas().get('config.schema.json') ?? '') as Record<string, unknown>;

describe('schemas/', () => {
  it.each([...generatedSchemas()])('%s is what the code says (npm run build && npm run schemas)', (name, text) => {
    expect(readFileSync(new URL(`schemas/${name}`, root), 'utf8')).toBe(text);
  });

  it('serves an editor: every field of the configuration has a description', () => {
    const without: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [name, property] of Object.entries((node as { properties?: Record<string, { description?: string }> }).properties ?? {})) {
        if (property.description === undefined) without.push(`${path}.${name}`);
      }
      for (const [key, child] of Object.entries(node)) visit(child, `${path}/${key}`);
    };
    visit(schema(), '');
    expect(without).toEqual([]);
  });

  it('holds nothing of our own metadata, and refuses unknown keys', () => {
    const text = JSON.stringify(schema());
    expect(text).not.toMatch(/"(as|secret)":(?!\{"description)/);
    expect(schema()).toMatchObject({ type: 'object', additionalProperties: false, required: ['role', 'ledger'] });
  });

  it('judges files as the loader does: good ones pass, bad ones fail', () => {
    const judge = z.fromJSONSchema(schema());
    const passes = (text: string): boolean => judge.safeParse(parse(text)).success;
    expect(passes(SMALLEST)).toBe(true);
    expect(passes(SMALLEST.replace('front', 'fron'))).toBe(false);
    expect(passes(`${SMALLEST}limits: { depth: 32 }\n`)).toBe(true);
    expect(passes(`${SMALLEST}limits: { depth: "\${DEPTH}" }\n`)).toBe(true);
    expect(passes(`${SMALLEST}limits: { depth: deep }\n`)).toBe(false);
    expect(passes(`${SMALLEST}defaults: { window: 90 }\n`.replace('defaults: { window: 90d }\n', ''))).toBe(false);
    expect(passes(`${SMALLEST}nonsense: 1\n`)).toBe(false);
    for (const name of readdirSync(new URL('examples/policy/', root))) {
      const example = readFileSync(new URL(`examples/policy/${name}`, root), 'utf8');
      expect(judge.safeParse(parse(example)).error, name).toBeUndefined();
    }
  });
});
