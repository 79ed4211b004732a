#!/usr/bin/env node
import { EXIT, Usage } from './exit.js';
import type { Output } from './exit.js';
import { COMPARE_USAGE, compareCommand } from './compare.js';
import { INIT_USAGE, initCommand } from './init.js';
import { LIST_USAGE, listCommand } from './list.js';
import { reportJsonSchema } from './report/schema.js';
import { RUN_USAGE, runCommandLine } from './run.js';
import { SEND_USAGE, sendCommand } from './send.js';

type Command = (args: string[], out: Output) => Promise<number>;

const USAGES: Readonly<Record<string, string>> = {
  run: RUN_USAGE, init: INIT_USAGE, list: LIST_USAGE, send: SEND_USAGE, compare: COMPARE_USAGE,
};

const COMMANDS: Readonly<Record<string, Command>> = {
  run: runCommandLine,
  init: initCommand,
  list: listCommand,
  send: sendCommand,
  compare: compareCommand,
  schema: async (_args, out) => {
    out.write(`${JSON.stringify(reportJsonSchema(), null, 2)}\n`);
    return EXIT.ok;
  },
};

const HELP = `as4-once-conformance: judges how an AS4 receiver handles duplicates

${[RUN_USAGE, INIT_USAGE, LIST_USAGE, SEND_USAGE, COMPARE_USAGE].join('\n')}
as4-once-conformance schema
  Prints the JSON Schema of report.json.

exit codes: 0 passed, 1 failed, 2 wrong command line or file, 3 a fault in the suite itself
`;

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(HELP);
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command !== undefined && (rest.includes('--help') || rest.includes('-h'))) {
    process.stdout.write(USAGES[name] ?? HELP);
    return EXIT.ok;
  }
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
  process.stderr.write(
    `a fault in the suite: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return EXIT.fault;
}

// A reader that has seen enough (| head) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await main(process.argv.slice(2));
