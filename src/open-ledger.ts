import { systemClock } from './clock.js';
import type { Config } from './config/config.js';
import type { Events } from './events.js';
import type { Ledger } from './ledger/port.js';

/** Opens the ledger that a configuration names. Engines are loaded on use, so that nobody needs a client they do not have. */
export async function openLedger({ ledger }: Config, events?: Events, oneShot = false): Promise<Ledger> {
  switch (ledger.kind) {
    case 'memory':
      return (await import('./ledger/memory.js')).memoryLedger({ clock: systemClock });
    case 'embedded': {
      const { lmdbLedger } = await import('./ledger/embedded/index.js');
      return lmdbLedger({ path: ledger.embedded, oneShot, ...(ledger.maxBytes === undefined ? {} : { maxBytes: ledger.maxBytes }) });
    }
    case 'redis': {
      const { redisLedger } = await import('./ledger/redis/index.js');
      return await redisLedger({ ...ledger.redis, strict: ledger.strict, oneShot, ...(events === undefined ? {} : { events }) });
    }
  }
}
