import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../src/errors.js';
import { ROOT } from './support/child.js';
import { CLOCK_KEEPERS, PACKAGES, PURE_BUILTINS, layerOf } from './tidy/layers.js';
import { blanked, projectFiles, sources, type Source } from './tidy/source-tree.js';

const src = sources('src');
const conformance = sources('conformance');
const product = [...src, ...conformance];
const files = projectFiles();
const inSrc = (path: string): string => path.replace(/^src\//, '');

/** Lines of `sources` on which `pattern` stands in code, as `path:line text`. */
function lines(among: readonly Source[], pattern: RegExp): string[] {
  return among.flatMap(({ path, code, text }) => code.split('\n').flatMap((line, i) =>
    pattern.test(line) ? [`${path}:${i + 1} ${text.split('\n')[i]?.trim()}`] : []));
}

describe('layers', () => {
  it('give every file of src/ a place', () => {
    expect(src.map((s) => s.path).filter((path) => layerOf(inSrc(path)) === undefined)).toEqual([]);
  });

  it('import downwards or sideways, never upwards', () => {
    const upwards = src.flatMap((source) => source.imports.flatMap(({ target }) => {
      if (target === undefined || !target.startsWith('src/')) return [];
      const [from, to] = [layerOf(inSrc(source.path)), layerOf(inSrc(target))];
      return from !== undefined && to !== undefined && from.layer < to.layer ? [`${source.path} (${from.name}) -> ${target} (${to.name})`] : [];
    }));
    expect(upwards).toEqual([]);
  });

  it('do not lead in a circle', () => {
    const edges = new Map(product.map((s) => [s.path, s.imports.filter((i) => !i.typeOnly).flatMap((i) => i.target ?? [])]));
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (path: string, way: readonly string[]): void => {
      const seen = way.indexOf(path);
      if (seen >= 0) circles.push([...way.slice(seen), path].join(' -> '));
      if (seen >= 0 || done.has(path)) return;
      for (const next of edges.get(path) ?? []) walk(next, [...way, path]);
      done.add(path);
    };
    for (const path of edges.keys()) walk(path, []);
    expect(circles).toEqual([]);
  });

  it('lead to files that exist', () => {
    const known = new Set(files);
    const lost = [...product, ...sources('test'), ...sources('demo'), ...sources('bench')].flatMap((s) =>
      s.imports.flatMap((i) => (i.target === undefined || known.has(i.target) ? [] : [`${s.path} -> ${i.specifier}`])));
    expect(lost).toEqual([]);
  });

  it('keep input and output out of the pure layer', () => {
    const impure = src.filter((s) => layerOf(inSrc(s.path))?.name === 'pure').flatMap((s) => s.imports
      .filter((i) => i.specifier.startsWith('node:') && !i.typeOnly && !PURE_BUILTINS.has(i.specifier))
      .map((i) => `${s.path} -> ${i.specifier}`));
    expect(impure).toEqual([]);
  });

  it('keep each client library in its one place', () => {
    const strays = product.flatMap((s) => s.imports.flatMap(({ specifier }) => {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) return [];
      const name = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
      return PACKAGES[name]?.test(s.path) === true ? [] : [`${s.path} -> ${specifier}`];
    }));
    expect(strays).toEqual([]);
  });

  it('ask the machine for time and chance in the clock only', () => {
    const asks = /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)|\bperformance\.now\b|\bprocess\.(hrtime|uptime)\b|\bMath\.random\b|\bset(Timeout|Interval)\(|\bAbortSignal\.timeout\b/;
    expect(lines(src.filter((s) => !CLOCK_KEEPERS.test(s.path)), asks)).toEqual([]);
  });

  it('keep the conformance suite apart: it judges any access point, ours included', () => {
    const crossing = [
      ...conformance.flatMap((s) => s.imports.filter((i) => i.target !== undefined && !i.target.startsWith('conformance/')).map((i) => `${s.path} -> ${i.specifier}`)),
      ...src.flatMap((s) => s.imports.filter((i) => i.target !== undefined && !i.target.startsWith('src/')).map((i) => `${s.path} -> ${i.specifier}`)),
    ];
    expect(crossing).toEqual([]);
  });
});

describe('sizes and names', () => {
  it('no file is over 400 lines, and the median is about 100', () => {
    expect(product.filter((s) => s.lines > 400).map((s) => `${s.path} ${s.lines}`)).toEqual([]);
    const sorted = product.map((s) => s.lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(120);
  });

  it('every file is named in kebab-case, after what it does', () => {
    const code = files.filter((path) => /^(src|conformance|demo|bench|scripts|test|examples)\/.*\.(ts|mjs)$/.test(path));
    const vague = /(^|[/.-])(utils?|helpers?|common|misc|manager|service)([/.-]|$)/;
    expect(code.filter((path) => vague.test(path))).toEqual([]);
    expect(code.filter((path) => !/^([a-z0-9]+(-[a-z0-9]+)*[/.])+(ts|mjs)$/.test(path))).toEqual([]);
  });

  it('only entry points pass on what other files export', () => {
    const barrels = src.filter((s) => !/(^src|\/redis|\/embedded|\/testing)\/index\.ts$/.test(s.path) && /^export \* /m.test(s.text));
    expect(barrels.map((s) => s.path)).toEqual([]);
  });
});

describe('what must not be in a file', () => {
  const texts = files.filter((path) => /\.(ts|mjs|json|md|ya?ml|conf|sh|toml|html|css|js)$|(^|\/)(Dockerfile|run|\.npmrc|\.gitignore|\.dockerignore)$|\.service$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
  const found = (pattern: RegExp, among = texts): string[] => among.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1} ${line.trim().slice(0, 120)}`] : [])));

  it('a path of somebody\'s machine', () => {
    expect(found(new RegExp('(^|[\\s"\'`(=:])/' + '(work|root|home/[\\w.-]+|Users/[\\w.-]+)/'))).toEqual([]);
  });

  it('the address of a package registry, or of a download', () => {
    const registries = ['registry' + '.npmjs.org', 'registry' + '.yarnpkg.com', 'npm' + '.pkg.github.com'];
    expect(found(new RegExp(registries.join('|').replaceAll('.', '\\.')))).toEqual([]);
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, { resolved?: string }> };
    expect(Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  it('a test that runs alone', () => {
    expect(lines(sources('test'), /\b(it|test|describe|suite)(\.\w+)*\.only\b/)).toEqual([]);
  });

  it('a key or a certificate that somebody might trust', () => {
    expect(found(new RegExp('-----BEGIN ' + '(RSA |EC |ENCRYPTED )?PRIVATE KEY')).filter((line) => !line.includes('${'))).toEqual([]);
  });
});

describe('the error table', () => {
  const codes = Object.keys(ERRORS);

  it('names no code that nothing uses', () => {
    const used = src.filter((s) => s.path !== 'src/errors.ts').map((s) => s.text).join('\n');
    expect(codes.filter((code) => !used.includes(`'${code}'`))).toEqual([]);
  });

  it('is the one in docs/errors.md, line by line', async () => {
    const { renderErrors } = await import(join(ROOT, 'scripts/errors-table.mjs')) as { renderErrors(table: typeof ERRORS): string };
    expect(readFileSync(join(ROOT, 'docs/errors.md'), 'utf8')).toBe(renderErrors(ERRORS));
  });
});

describe('the reader of sources', () => {
  it('blanks comments and strings and nothing else', () => {
    const text = 'a(\'Date.now\'); // Date.now\nb(`x ${c("y")} z`, /* d */ e);\nf(`${`in ${g}`}`);';
    const code = blanked(text);
    expect(code.length).toBe(text.length);
    expect(code).not.toMatch(/Date|x |y| z|d|in /);
    for (const kept of ['a(', 'b(`', 'c(', 'e)', 'f(`', 'g}']) expect(code).toContain(kept);
  });

  it('sees what it is there to see', () => {
    expect(src.length).toBeGreaterThan(10);
    expect(src.some((s) => s.path === 'src/receive.ts' && s.imports.some((i) => i.target === 'src/delivery/deliver.ts'))).toBe(true);
    expect(lines([{ path: 'x.ts', text: 'Date.now()', code: blanked('Date.now()'), lines: 1, imports: [] }], /\bDate\.now\b/)).toHaveLength(1);
  });
});
