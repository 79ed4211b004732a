import { systemClock } from './clock.js';
import type { Config } from './config/config.js';
import type { Events } from './events.js';
import { As4OnceError } from './errors.js';
import type { Ledger } from './ledger/port.js';
import type { RedisLedger } from './ledger/redis/index.js';

/** Opens the ledger that a configuration names. Engines are loaded on use, so that nobody needs a client they do not have. */
export async function openLedger({ ledger }: Config, events?: Events, oneShot = false): Promise<Ledger> {
  const bounds = ledger.maxBytes === undefined ? {} : { maxBytes: ledger.maxBytes };
  const told = events === undefined ? {} : { events };
  switch (ledger.kind) {
    case 'memory':
      return (await import('./ledger/memory.js')).memoryLedger({ clock: systemClock });
    case 'embedded': {
      const { lmdbLedger } = await import('./ledger/embedded/index.js');
      return await opened(lmdbLedger({ path: ledger.embedded, strict: ledger.strict && !oneShot, oneShot, ...bounds, ...told }), ledger.embedded);
    }
    case 'redis': {
      const { redisLedger } = await import('./ledger/redis/index.js');
      // an operator's command must work just where something is wrong with the store
      return await redisLedger({ ...ledger.redis, strict: ledger.strict && !oneShot, oneShot, ...bounds, ...told });
    }
  }
}

/** A folder that cannot be made or written is a ledger that cannot be opened, not a fault of ours. */
async function opened(ledger: Promise<Ledger>, folder: string): Promise<Ledger> {
  try {
    return await ledger;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (error instanceof As4OnceError || code === undefined) throw error;
    throw new As4OnceError('LEDGER_DOWN', `the folder ${folder} cannot be used (${code})`, { cause: error });
  }
}

/**
 * Hands passwords, certificates and authorities that were replaced to an open ledger, where it has any.
 * @throws As4OnceError LEDGER_DOWN while the store does not take them, CONFIG_INVALID where they are another store's.
 */
export async function renewLedger(ledger: Ledger, config: Config): Promise<void> {
  if (config.ledger.kind !== 'redis' || !('renewSecrets' in ledger)) return;
  const done = await (ledger as RedisLedger).renewSecrets(config.ledger.redis);
  if (done === 'elsewhere') throw new As4OnceError('CONFIG_INVALID', 'ledger.redis names another store; that takes a restart');
}
