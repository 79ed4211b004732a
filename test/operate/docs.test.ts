import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ledgerRecordSchema } from '../../src/ledger/schema.js';
import { NODES, rootShelf, tallyShelf, WINDOWS } from '../../src/ledger/shelves.js';
import { ANSWERS } from '../../src/operate/report.js';
import { ROOT } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';
import { operator, program } from './operator.js';

const PAGES = ['operate', 'import', 'evidence', 'data'].map((name) => `docs/${name}.md`);
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe.each(PAGES)('%s', (page) => {
  const text = read(page);

  it('prints commands that exist, with options that they have', async () => {
    const commands = [...text.matchAll(/(?:^\$ |`|&& )(as4-once [a-z][^`\n]*?)(?=`|\n| && | {2,}#|$)/gm)].map(([, command = '']) => command.split('#')[0]!.trim());
    expect(commands.length).toBeGreaterThan(0);
    for (const command of new Set(commands)) {
      const [name = '', ...words] = command.slice('as4-once '.length).replaceAll(/'[^']*'/g, 'TEXT').split(/\s+/);
      const help = await operator('')(name, '--help');
      expect(help.code, command).toBe(0);
      for (const word of words) {
        if (!word.startsWith('-')) continue;
        expect(help.stdout.includes(word.split('=')[0]!), `${command}: ${word}`).toBe(true);
      }
      const [sub] = words;
      if ((name === 'ledger' || name === 'bypass') && sub !== undefined) expect(help.stdout, command).toContain(`as4-once ${name} ${sub}`);
    }
  });

  it('links to what is there', () => {
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)\)/g)) {
      // the operator's page for held messages is written beside this one
      if (target === 'operator.md' && !existsSync(join(ROOT, 'docs/operator.md'))) continue;
      expect(existsSync(join(ROOT, dirname(page), target)), target).toBe(true);
    }
  });
});

describe('the data page', () => {
  const text = read('docs/data.md');

  it('names every field of a record', () => {
    const named = new Set([...text.matchAll(/`([a-zA-Z]+)`/g)].map(([, name]) => name));
    expect(Object.keys(ledgerRecordSchema.shape).filter((field) => !named.has(field))).toEqual([]);
    for (const fact of ['From', 'To', 'C1', 'C4', 'service', 'action', 'conversation', 'agreement', 'MPC']) expect(text).toContain(fact);
  });

  it('names every shelf of notes', () => {
    for (const shelf of [NODES, rootShelf('x'), tallyShelf('x'), WINDOWS]) expect(text).toContain(`\`${shelf.split('/')[0]}`);
  });
});

describe('the operating page', () => {
  it('explains every column of the report', () => {
    const rows = read('docs/operate.md').split('\n').filter((line) => line.startsWith('| ')).map((line) => line.split('|')[1]!).join(',');
    const named = new Set(rows.split(/[^a-z]+/));
    expect(ANSWERS.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe('the bill of materials', () => {
  it('is made offline, and holds what runs and nothing else', async () => {
    const folder = tempDir('sbom');
    const file = join(folder.path, 'sbom.json');
    await program(process.execPath, [join(ROOT, 'scripts/sbom.mjs'), file], folder.path);
    const { bomFormat, components } = JSON.parse(readFileSync(file, 'utf8')) as { bomFormat: string; components: { name: string }[] };
    expect(bomFormat).toBe('CycloneDX');
    const names = components.map(({ name }) => name);
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    for (const name of Object.keys(dependencies)) expect(names).toContain(name);
    expect(names).not.toContain('vitest');
    folder.remove();
  });
});

it('no page of docs is empty', () => {
  for (const name of readdirSync(join(ROOT, 'docs')).filter((one) => one.endsWith('.md'))) expect(statSync(join(ROOT, 'docs', name)).size).toBeGreaterThan(500);
});
