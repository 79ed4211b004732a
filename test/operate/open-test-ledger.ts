import type { Ledger } from '../../src/ledger/port.js';

/** `redis://…`, or the folder of an embedded ledger. */
export async function openTestLedger(where: string): Promise<Ledger> {
  if (where.startsWith('redis:')) return await (await import('../../src/ledger/redis/index.js')).redisLedger({ url: where });
  return await (await import('../../src/ledger/embedded/index.js')).lmdbLedger({ path: where });
}
