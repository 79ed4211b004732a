import { readFileSync } from 'node:fs';
import { systemClock } from '../../src/clock.js';
import type { WatchConfig } from '../../src/config/config.js';
import { Events } from '../../src/events.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { thisProcess } from '../../src/ledger/owner.js';
import { LIMITS, TIMES } from '../../src/limits.js';
import { watchFolder } from '../../src/watch/watch.js';

/**
 * One pass over a folder by a process that kills itself with SIGKILL at the n-th step. Arguments: a folder with
 * `watch.json` (a WatchConfig) and the ledger, and n. Prints the steps it came to; ends by itself where there are fewer.
 */
const [root = '', at = '0'] = process.argv.slice(2);
let count = 0;
const step = (name: string): void => {
  count += 1;
  process.stdout.write(`${name}\n`);
  if (count === Number(at)) process.kill(process.pid, 'SIGKILL');
};
const config = JSON.parse(readFileSync(`${root}/watch.json`, 'utf8')) as WatchConfig;
const ledger = await lmdbLedger({ path: `${root}/ledger`, oneShot: true });
const one = await watchFolder({ config, ledger, clock: systemClock, events: new Events(), owner: thisProcess('child'), limits: LIMITS, times: TIMES, step });
await one.pass(true);
await one.leave();
await ledger.close();
