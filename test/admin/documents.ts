import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { main } from '../../src/cli/main.js';
import { ROOT } from '../support/child.js';

/** What the pages for operators say, held against what there is. */
export const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** GitHub's anchors of the headings of a Markdown page. */
export function anchors(markdown: string): Set<string> {
  return new Set([...withoutBlocks(markdown).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) =>
    heading.trim().toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')));
}

/** Links of a page that lead nowhere: a file that is not there, or a heading that is not in it. */
export function brokenLinks(path: string): string[] {
  const targets = [...withoutBlocks(page(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    if (/^https?:/.test(target)) return false;
    const [file = '', anchor] = target.split('#');
    const to = file === '' ? path : join(dirname(path), file);
    return !existsSync(join(ROOT, to)) || (anchor !== undefined && !anchors(page(to)).has(anchor));
  });
}

/** The fenced blocks of a page in one of some languages ('' where none is given). */
export function blocks(markdown: string, ...languages: string[]): string[] {
  // one after the other, since a closing fence looks like the opening one of a block without a language
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].filter(([, language = '']) => languages.includes(language)).map(([, , text = '']) => text);
}

function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```/gm, '');
}

/** Each `as4-once COMMAND …` that a page names in code: the command and its long options. */
export function commands(markdown: string): { command: string; options: string[] }[] {
  // paragraph by paragraph, so that a lone backtick turns nothing inside out; a span may be broken over two lines
  const spans = withoutBlocks(markdown).split(/\n\s*\n|\n(?=[-|#])/).flatMap((paragraph) => [...paragraph.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll(/\s+/g, ' ')));
  const lines = blocks(markdown, '', 'sh', 'text').flatMap((text) => text.split('\n'));
  return [...spans, ...lines].flatMap((text) => {
    const [, command, rest = ''] = /^(?:\$ )?as4-once ([a-z]+)\b([^#]*)/.exec(text.trim()) ?? [];
    return command === undefined ? [] : [{ command, options: rest.match(/--[a-z][a-z-]+/g) ?? [] }];
  });
}

const helps = new Map<string, Promise<string>>();

/** What `as4-once [command] --help` prints, asked once; empty where there is no such command. */
export function help(command?: string): Promise<string> {
  const name = command ?? '';
  const asked = helps.get(name) ?? helpOf(command === undefined ? ['--help'] : [command, '--help']);
  helps.set(name, asked);
  return asked;
}

async function helpOf(args: readonly string[]): Promise<string> {
  let printed = '';
  const code = await main(args, { out: (text) => void (printed += text), err: () => undefined, tty: false, env: {} });
  return code === 0 ? printed : '';
}
