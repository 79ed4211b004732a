import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { ERRORS } from '../../src/errors.js';
import { ACCESS_POINT_NAMES } from '../../src/delivery/access-points.js';
import { ROOT } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';
import { blocks, brokenLinks, commands, help, page } from './documents.js';

/** Pages for operators: what they name must exist, and what they print must work as written. */
const COOKBOOKS = readdirSync(join(ROOT, 'docs/cookbooks')).map((name) => `docs/cookbooks/${name}`);
const PAGES = ['README.md', 'ops/runbook.md', 'docs/admin-api.md', 'docs/endpoint.md', 'examples/README.md', ...COOKBOOKS];

/** The files that the printed configurations name. */
const folder = tempDir('pages');
writeFileSync(join(folder.path, 'admin-token'), 'a-token-of-the-tests\n');
afterAll(() => folder.remove());

describe.each(PAGES)('%s', (path) => {
  const text = page(path);

  it('names only commands and options that there are', async () => {
    const all = await help();
    for (const { command, options } of commands(text)) {
      expect(all, command).toMatch(new RegExp(`^  ${command} `, 'm'));
      const own = await help(command);
      for (const option of options) expect(own, `as4-once ${command} ${option}`).toContain(option);
    }
  });

  it('links only to what exists', () => {
    expect(brokenLinks(path)).toEqual([]);
  });

  it('prints only configurations that load', () => {
    for (const yaml of blocks(text, 'yaml').filter((block) => /^role:/m.test(block))) {
      expect(() => loadConfig({ text: yaml, name: path }, { env: {}, base: folder.path }), yaml).not.toThrow();
    }
  });

  it('names only codes of the error table', () => {
    const known = new Set<string>(Object.keys(ERRORS));
    const named = [...text.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, code = '']) => code).filter((code) => !/^(STORE_|HTTP|AS4_ONCE_)/.test(code));
    expect(named.filter((code) => !known.has(code) && code !== 'BYPASS')).toEqual([]);
  });
});

it('the reader of pages sees the commands that stand in them', () => {
  expect(commands('a lone ` here\n\nDo `as4-once\nshow ID --json`, then\n\n```\nas4-once list --held # x --no\n```\nas4-once each `x`')).toEqual([
    { command: 'show', options: ['--json'] }, { command: 'list', options: ['--held'] },
  ]);
  expect(commands(page('ops/runbook.md')).length).toBeGreaterThan(15);
});

describe('the cookbooks', () => {
  it('say of each preset that there is what was measured and what was only read', () => {
    const pages = COOKBOOKS.map(page);
    for (const name of ACCESS_POINT_NAMES.filter((one) => one !== 'other')) expect(pages.some((text) => text.includes(`accessPoint: ${name}\n`)), name).toBe(true);
    for (const text of pages) expect(text).toMatch(/^\*\*Status: (measured|read in source, not run|the files? )/m);
  });

  it('say of each access point what to do with its own detection and at what price, its timeouts, and its keys', () => {
    for (const path of COOKBOOKS.filter((name) => !/nginx|traefik/.test(name))) {
      const text = page(path);
      for (const heading of [/^## The preset/m, /^## Its own duplicate/m, /^## Timeouts/m, /[Kk]ey/]) expect(text, path).toMatch(heading);
      expect(text, path).toMatch(/price/);
    }
  });
});

it('examples/README.md lists every example of the policy', () => {
  const listed = [...page('examples/README.md').matchAll(/\(policy\/([^)]+)\)/g)].map(([, name]) => name);
  expect(new Set(listed)).toEqual(new Set(readdirSync(join(ROOT, 'examples/policy'))));
});

it('the pictures load quickly, and each is shown somewhere', () => {
  const shown = PAGES.filter((path) => existsSync(join(ROOT, path))).map(page).join('\n');
  for (const name of readdirSync(join(ROOT, 'docs/img')).filter((one) => one.endsWith('.png'))) {
    expect(statSync(join(ROOT, 'docs/img', name)).size, name).toBeLessThan(200_000);
    expect(shown, name).toContain(`img/${name}`);
  }
});
