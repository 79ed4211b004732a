import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { attachLog } from '../admin/log.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config/config.js';
import { As4OnceError } from '../errors.js';
import { Events } from '../events.js';
import { thisProcess } from '../ledger/owner.js';
import type { Ledger } from '../ledger/port.js';
import { openLedger } from '../open-ledger.js';
import { keepTallies } from '../operate/keep-tallies.js';
import { watchFolder, type FolderWatch } from '../watch/watch.js';
import { EXIT, type Io } from './io.js';
import { configured } from './records.js';

const HELP = `as4-once watch: take files from folders, pass first copies on, put repetitions aside

Usage: as4-once watch [--once] [--name NAME] [--config FILE]

Watches every folder of the configuration's watch: list, or the one of that name, until SIGTERM or SIGINT. With --once:
one pass, for cron; files are ready then when they were last changed as long ago as the folder's 'stable'.
First copies go to out, repetitions to duplicates, what cannot be read to refused, a reused number to quarantine (see
as4-once accept). Any number of watchers may share a folder. The log is one JSON object per line on standard output.

Exit codes: 0 ended by a signal, or the pass is done · 2 bad configuration · 75 the ledger cannot be reached, try again

Example: as4-once watch --once --config edi.yaml
`;

export async function watch(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { config: { type: 'string' }, once: { type: 'boolean' }, name: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const config = configured(values.config, io);
  const chosen = config.watch.filter(({ name }) => values.name === undefined || name === values.name);
  if (chosen.length === 0) {
    throw new As4OnceError('USAGE', values.name === undefined ? 'the configuration has no watch: list' : `no watch is named ${values.name}; there are ${config.watch.map(({ name }) => name).join(', ')}`);
  }
  const events = new Events();
  attachLog(events, { level: config.log.level, ...(config.log.file === undefined ? {} : { file: config.log.file }) });
  const alone = values.once === true;
  const ledger = await openLedger(config, events, alone);
  const tallies = keepTallies({ events, ledger, folder: config.state, clock: systemClock });
  const folders: FolderWatch[] = [];
  try {
    for (const one of chosen) folders.push(await watchFolder(optionsOf(config, one, ledger, events)));
    if (alone) for (const folder of folders) await folder.pass(true);
    else await untilSignal(folders, io, chosen.length);
  } finally {
    await Promise.all(folders.map((folder) => folder.leave()));
    await tallies.close();
    await ledger.close();
  }
  return EXIT.ok;
}

function optionsOf(config: Config, folder: Config['watch'][number], ledger: Ledger, events: Events): Parameters<typeof watchFolder>[0] {
  return { config: folder, ledger, events, clock: systemClock, owner: thisProcess(config.node ?? hostname()), limits: config.limits, times: config.times };
}

/** The file in hand is finished; the next one is left to whoever watches next. */
async function untilSignal(folders: readonly FolderWatch[], io: Io, count: number): Promise<void> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
  io.err(`as4-once watches ${count} ${count === 1 ? 'folder' : 'folders'}\n`);
  await Promise.all(folders.map((folder) => folder.run(stop.signal)));
}
