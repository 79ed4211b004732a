import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { acceptFile } from '../watch/accept.js';
import { EXIT, type Io } from './io.js';
import { configured } from './records.js';

const HELP = `as4-once accept: let a file out of quarantine, once

Usage: as4-once accept FILE --reason TEXT [--config FILE]

FILE lies in the quarantine of a watched folder. The next pass of a watcher delivers it, although its number was used for
other content before; the first record stays as it is. Who, when and why stays beside as FILE.accepted.json.

Exit codes: 0 requeued · 1 no such file · 2 wrong command line, or a file that lies in no quarantine

Example: as4-once accept quarantine/orders.edi --reason 'partner reset its counter, see ticket 4711' --config edi.yaml
`;

export async function accept(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: { config: { type: 'string' }, reason: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new As4OnceError('USAGE', 'accept needs one FILE');
  if (values.reason === undefined || values.reason.trim() === '') {
    throw new As4OnceError('USAGE', 'a reason is needed: --reason TEXT');
  }
  const config = configured(values.config, io);
  const watched = await acceptFile(config.watch, file, { who: `${userInfo().username}@${hostname()}`, when: systemClock.now(), reason: values.reason });
  io.out(`requeued: the next pass of ${watched.name} delivers it\n`);
  return EXIT.ok;
}
