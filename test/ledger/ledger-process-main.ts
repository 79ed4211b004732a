import { As4OnceError } from '../../src/errors.js';
import { thisProcess } from '../../src/ledger/owner.js';
import type { Claim, Ledger } from '../../src/ledger/port.js';
import type { Call, Opening, Reply } from './ledger-process.js';

/** The child's side of ledger-process.ts. Claims are made in the name of this process. */
const opening = JSON.parse(process.argv[2] ?? '') as Opening;
const opened: Promise<Ledger> = opening.engine === 'embedded'
  ? import('../../src/ledger/embedded/index.js').then(({ lmdbLedger }) => lmdbLedger(opening.options))
  : import('../../src/ledger/redis/index.js').then(({ redisLedger }) => redisLedger(opening.options));
const owner = thisProcess(`process ${process.pid}`);

async function run({ method, args }: Call): Promise<unknown> {
  const ledger = await opened;
  if (method === 'opened') return true;
  if (method === 'claim') return ledger.claim({ ...(args[0] as Claim), owner });
  if (method === 'woken') return new Promise<void>((resolve) => ledger.watch(args[0] as string, resolve));
  if (method === 'close') {
    await ledger.close();
    process.disconnect();
    return true;
  }
  return (ledger[method as keyof Ledger] as (...all: readonly unknown[]) => Promise<unknown>)(...args);
}

process.on('message', (call: Call) => {
  run(call).then(
    (value) => ({ id: call.id, value }),
    (error: unknown) => ({ id: call.id, error: { code: error instanceof As4OnceError ? error.code : 'INTERNAL', message: String(error) } }),
  ).then((reply: Reply) => process.connected && process.send?.(reply), () => undefined);
});
