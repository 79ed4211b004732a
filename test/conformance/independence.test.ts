import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../conformance/', import.meta.url));
const PACKAGES = ['xml-crypto', 'fast-xml-parser', 'yaml', 'zod'];

function sources(): { file: string; text: string }[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: readFileSync(join(FOLDER, file), 'utf8') }));
}

function importsOf(text: string): string[] {
  return [
    ...text.matchAll(/^(?:import|export) [^;]*?from '([^']+)';$|\bimport\('([^']+)'\)|^import '([^']+)';$/gm),
  ].map(([, ...names]) => names.find((name) => name !== undefined) ?? '');
}

describe('the suite is a black box', () => {
  // A judge that shares code with the judged would share its mistakes: a bug of src/ could hide behind itself.
  test('it imports its own files, Node built-ins and four packages, nothing else', () => {
    const foreign = sources().flatMap(({ file, text }) =>
      importsOf(text)
        .filter((name) => {
          if (name.startsWith('node:') || PACKAGES.includes(name)) return false;
          if (!name.startsWith('.')) return true;
          return relative(FOLDER, join(FOLDER, file, '..', name)).startsWith('..');
        })
        .map((name) => `${file}: ${name}`),
    );
    expect(foreign).toEqual([]);
  });

  test('no file is longer than 400 lines', () => {
    expect(
      sources()
        .filter(({ text }) => text.split('\n').length > 401)
        .map(({ file }) => file),
    ).toEqual([]);
  });
});
