import { systemClock } from './clock.js';
import type { Config } from './config/config.js';
import type { Events } from './events.js';
import type { Ledger } from './ledger/port.js';

/** Opens the ledger that a configuration names. Engines are loaded on use, so that nobody needs a client they do not have. */
export async function openLedger({ ledger }: Config, events?: Events, oneShot = false): Promise<Ledger> {
  const bounds = ledger.maxBytes === undefined ? {} : { maxBytes: ledger.maxBytes };
  const told = events === undefined ? {} : { events };
  switch (ledger.kind) {
    case 'memory':
      return (await import('./ledger/memory.js')).memoryLedger({ clock: systemClock });
    case 'embedded': {
      const { lmdbLedger } = await import('./ledger/embedded/index.js');
      return await lmdbLedger({ path: ledger.embedded, strict: ledger.strict && !oneShot, oneShot, ...bounds, ...told });
    }
    case 'redis': {
      const { redisLedger } = await import('./ledger/redis/index.js');
      // an operator's command must work just where something is wrong with the store
      return await redisLedger({ ...ledger.redis, strict: ledger.strict && !oneShot, oneShot, ...bounds, ...told });
    }
  }
}
