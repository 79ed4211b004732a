import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { readBypass, switchOff, switchOn, type Bypass } from '../operate/bypass.js';
import { parseDuration } from '../policy/duration.js';
import { EXIT, type Io } from './io.js';
import { configured, decision } from './records.js';

const HELP = `as4-once bypass: let every message through unclaimed for a while, as if as4-once were not there

Usage: as4-once bypass on --for 30m --reason TEXT [--config FILE]
       as4-once bypass off [--config FILE]
       as4-once bypass status [--config FILE] [--json]

Works with the ledger down: a file in the state folder says so, and the servers of this machine follow within a second.
Run it on every machine. Messages go on marked As4-Once-Copy: bypass, copies of accepted ones too; each is named in the
log (mode: bypass). It ends by itself, after a day at most. Afterwards bring the ids into the ledger:

  as4-once import as4-once.log --config front.yaml          (shows what it would write)
  as4-once import as4-once.log --write --config front.yaml

Exit codes: 0 done · 1 status: not on · 2 wrong command line or configuration

Example: as4-once bypass on --for 30m --reason 'Redis is being moved' --config front.yaml
`;

export async function bypass(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      for: { type: 'string' },
      reason: { type: 'string' },
      config: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [what, ...more] = positionals;
  if (more.length > 0) throw new As4OnceError('USAGE', 'bypass needs one of on, off, status');
  const now = systemClock.now();
  switch (what ?? '') {
    case 'on': {
      if (values.for === undefined)
        throw new As4OnceError('USAGE', 'bypass on needs --for DURATION, such as --for 30m');
      const { who, reason } = decision('release', values.reason, now);
      const until = now + durationOf(values.for);
      await switchOn(configured(values.config, io).state, { since: now, until, who, reason });
      io.out(`bypass on until ${iso(until)} for the servers of ${hostname()}: messages go on unclaimed and marked\n`);
      return EXIT.ok;
    }
    case 'off': {
      const { state } = configured(values.config, io);
      const standing = readBypass(state, now);
      await switchOff(state);
      io.out(standing === undefined ? 'bypass was not on\n' : 'bypass off\n');
      return EXIT.ok;
    }
    case 'status': {
      const standing = readBypass(configured(values.config, io).state, now);
      if (values.json === true)
        io.out(`${JSON.stringify(standing === undefined ? { on: false } : { on: true, ...dated(standing) })}\n`);
      else
        io.out(
          standing === undefined
            ? 'bypass is not on\n'
            : `bypass is on until ${iso(standing.until)}, by ${standing.who}: ${standing.reason}\n`,
        );
      return standing === undefined ? EXIT.no : EXIT.ok;
    }
    default:
      throw new As4OnceError('USAGE', 'bypass needs one of on, off, status');
  }
}

function durationOf(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new As4OnceError('USAGE', `--for: ${error instanceof As4OnceError ? error.detail : String(error)}`);
  }
}

const iso = (ms: number): string => new Date(ms).toISOString();
const dated = (bypassed: Bypass): object => ({ ...bypassed, since: iso(bypassed.since), until: iso(bypassed.until) });
