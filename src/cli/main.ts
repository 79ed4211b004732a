#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageVersion } from '../admin/package-root.js';
import { As4OnceError } from '../errors.js';
import { EXIT, processIo, type Io } from './io.js';

/** One command: arguments after its name, the terminal, and the exit code it ends with. */
export type Command = (args: readonly string[], io: Io) => Promise<number>;

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Loaded on use: `read` on a file must not pay for a web server. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  init: { summary: 'write a commented configuration to begin with', load: async () => (await import('./init.js')).init },
  serve: { summary: 'run the front or the endpoint of a configuration', load: async () => (await import('./serve.js')).serve },
  check: { summary: 'validate a configuration, print effective rules and warnings', load: async () => (await import('./check.js')).check },
  status: { summary: 'what all servers of the ledger are doing now', load: async () => (await import('./status.js')).status },
  doctor: { summary: 'look at everything a server depends on, say what is wrong', load: async () => (await import('./doctor.js')).doctor },
  report: { summary: 'how messages were answered; what eliminate would have done (--shadow)', load: async () => (await import('./report.js')).report },
  show: { summary: 'what the ledger knows of a message', load: async () => (await import('./show.js')).show },
  list: { summary: 'messages that are held, uncertain or in flight', load: async () => (await import('./list.js')).list },
  settle: { summary: 'record the Receipt of a held or uncertain message', load: async () => byToken((await import('./settle-token.js')).settleToken, (await import('./settle.js')).settle) },
  release: { summary: 'let the next copy of a held message be delivered', load: async () => byToken((await import('./release-token.js')).releaseToken, (await import('./release.js')).release) },
  watch: { summary: 'take files from folders: first copies go on, repetitions aside', load: async () => (await import('./watch.js')).watch },
  accept: { summary: 'let a file out of quarantine, once', load: async () => (await import('./accept.js')).accept },
  claim: { summary: 'ask, from a pipeline of your own, whether a file was processed before', load: async () => (await import('./claim.js')).claim },
  evidence: { summary: 'all that is known of a message, in one archive', load: async () => (await import('./evidence.js')).evidenceOf },
  read: { summary: 'show what the walk sees in a stored message', load: async () => (await import('./read.js')).read },
  verify: { summary: 'check the signature of a stored Receipt with a second implementation', load: async () => (await import('./verify.js')).verify },
  import: { summary: 'bring what was accepted elsewhere into the ledger', load: async () => (await import('./import.js')).importRecords },
  bypass: { summary: 'let every message through unclaimed for a while', load: async () => (await import('./bypass.js')).bypass },
  ledger: { summary: 'look after the ledger itself: status, accept, backup, upgrade', load: async () => (await import('./ledger.js')).ledgerCommand },
  forget: { summary: 'blank a party in the ledger', load: async () => (await import('./forget.js')).forget },
};

/** `--token` is the other half of `claim`; without it an operator speaks about a message. */
function byToken(ofToken: Command, ofMessage: Command): Command {
  return (args, io) => (args.some((arg) => arg === '--token' || arg.startsWith('--token=')) ? ofToken(args, io) : ofMessage(args, io));
}

const HELP = `as4-once: delivers a business message once, however often it arrives

Usage: as4-once COMMAND [options]

Commands:
${Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`).join('\n')}

Every command takes --help, and --json where a machine may read it. --version says which release this is.

Exit codes: 0 done · 1 no (not found, refused, not allowed) · 2 wrong command line or configuration
            70 a fault in as4-once · 75 the ledger cannot be reached, try again
`;

export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...args] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    (name === undefined ? io.err : io.out)(HELP);
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  if (name === '--version' || name === '-V' || name === 'version') {
    io.out(`${packageVersion()}\n`);
    return EXIT.ok;
  }
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) {
    io.err(`as4-once: no command '${name}'. See as4-once --help.\n`);
    return EXIT.usage;
  }
  try {
    return await (await entry.load())(args, io);
  } catch (error) {
    return explain(error, io);
  }
}

/** A known failure is one sentence for the operator; anything else is our fault and shows where. */
function explain(error: unknown, io: Io): number {
  if (error instanceof As4OnceError) {
    io.err(`as4-once: ${error.message}\n`);
    if (error.code === 'LEDGER_DOWN' || error.code === 'LEDGER_FULL' || error.code === 'LEDGER_BEHIND' || error.code === 'LISTEN_FAILED') return EXIT.unavailable;
    return error.code === 'CONFIG_INVALID' || error.code === 'USAGE' ? EXIT.usage : EXIT.no;
  }
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) {
    io.err(`as4-once: ${error.message}\n`);
    return EXIT.usage;
  }
  io.err(`as4-once: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT.fault;
}

if (isEntry()) {
  // A reader that has seen enough (| head) is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.exitCode = await main(process.argv.slice(2), processIo);
}

/** npm links the bin, so the real path counts. (Node 20 has no import.meta.main.) */
function isEntry(): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url);
}
