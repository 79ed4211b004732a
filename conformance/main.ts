#!/usr/bin/env node
import { EXIT, Usage } from './exit.js';
import type { Output } from './exit.js';
import { SEND_USAGE, sendCommand } from './send.js';

type Command = (args: string[], out: Output) => Promise<number>;

const COMMANDS: Readonly<Record<string, Command>> = { send: sendCommand };

const HELP = `as4-once-conformance: judges how an AS4 receiver handles duplicates

${SEND_USAGE}
exit codes: 0 passed, 1 failed, 2 wrong command line or file, 3 a fault in the suite itself
`;

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(HELP);
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  try {
    if (command === undefined) throw new Usage(`unknown command ${name}`, HELP);
    return await command(rest, process.stdout);
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof Usage) {
    process.stderr.write(`${error.message}\n${error.help === '' ? '' : `\n${error.help}`}`);
    return EXIT.usage;
  }
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  if (code.startsWith('ERR_PARSE_ARGS') || code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') {
    process.stderr.write(`${(error as Error).message}\n`);
    return EXIT.usage;
  }
  process.stderr.write(`a fault in the suite: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT.fault;
}

process.exitCode = await main(process.argv.slice(2));
