import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { clauseOf, CLAUSES } from '../../conformance/clauses.js';
import { REQUIREMENTS } from '../../conformance/registry.js';
import { BASE } from '../../conformance/run/runner.js';
import type { Requirement } from '../../conformance/run/requirement.js';
import { CAPABILITIES } from '../../conformance/target/target.js';

const FOLDER = fileURLToPath(new URL('../../conformance/requirements/', import.meta.url));

async function modules(): Promise<{ file: string; requirement: Requirement | undefined }[]> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return await Promise.all(
    files.map(async (file) => ({
      file,
      requirement: ((await import(join(FOLDER, file))) as { requirement?: Requirement }).requirement,
    })),
  );
}

describe('the registry of requirements', () => {
  test('every module is registered, and every registered requirement has its module', async () => {
    const found = await modules();
    expect(found.filter(({ requirement }) => requirement === undefined).map(({ file }) => file)).toEqual([]);
    const registered = new Set(REQUIREMENTS);
    expect(
      found
        .filter(({ requirement }) => requirement !== undefined && !registered.has(requirement))
        .map(({ file }) => file),
    ).toEqual([]);
    const inModules = new Set(found.map(({ requirement }) => requirement));
    expect(REQUIREMENTS.filter((requirement) => !inModules.has(requirement)).map(({ id }) => id)).toEqual([]);
  });

  test('every requirement has a clause, and every clause a requirement', () => {
    expect(REQUIREMENTS.filter(({ id }) => clauseOf(id) === undefined).map(({ id }) => id)).toEqual([]);
    const covered = new Set(REQUIREMENTS.map(({ id }) => id.slice(0, id.lastIndexOf('/'))));
    expect(Object.keys(CLAUSES).filter((clause) => !covered.has(clause))).toEqual([]);
  });

  test('ids are unique and numbered without gaps in each clause', () => {
    const numbers = new Map<string, number[]>();
    for (const { id } of REQUIREMENTS) {
      const at = id.lastIndexOf('/');
      numbers.set(id.slice(0, at), [...(numbers.get(id.slice(0, at)) ?? []), Number(id.slice(at + 1))]);
    }
    for (const [clause, list] of numbers) {
      expect(
        list.toSorted((a, b) => a - b),
        clause,
      ).toEqual(list.map((_, index) => index + 1));
    }
  });

  test('there are at least sixty, the base comes first, and each says what it sends, expects and stands on', () => {
    expect(REQUIREMENTS.length).toBeGreaterThanOrEqual(60);
    expect(REQUIREMENTS[0]?.id).toBe(BASE);
    for (const { id, title, says, sends, expects, refs } of REQUIREMENTS) {
      for (const text of [title, says, sends, expects]) expect(text.length, id).toBeGreaterThan(8);
      expect(refs.length, id).toBeGreaterThan(0);
    }
  });

  test('dependencies exist and come to an end, needs are capabilities', () => {
    const byId = new Map(REQUIREMENTS.map((requirement) => [requirement.id, requirement]));
    const depth = (id: string, below: readonly string[] = []): number => {
      expect(below, `a cycle through ${id}`).not.toContain(id);
      const requirement = byId.get(id);
      expect(requirement, `a dependency on ${id}`).toBeDefined();
      return 1 + Math.max(0, ...(requirement?.dependsOn ?? []).map((next) => depth(next, [...below, id])));
    };
    for (const { id, needs } of REQUIREMENTS) {
      depth(id);
      for (const need of needs ?? []) expect(Object.keys(CAPABILITIES), id).toContain(need);
    }
  });

  // A must without a sentence of OASIS, the EC or an RFC behind it would be our opinion about other people's products.
  test('where the standards are silent nothing is a must of its own', () => {
    expect(
      REQUIREMENTS.filter(({ id, level }) => id.startsWith('once/') && level === 'must').map(({ id }) => id),
    ).toEqual([]);
    expect(
      REQUIREMENTS.filter(({ level, claimed }) => level !== 'observe' && claimed !== undefined).map(({ id }) => id),
    ).toEqual([]);
  });

  test('every capability is needed by some requirement', () => {
    const needed = new Set<string>(REQUIREMENTS.flatMap(({ needs }) => needs ?? []));
    expect(Object.keys(CAPABILITIES).filter((name) => !needed.has(name))).toEqual([]);
  });
});
