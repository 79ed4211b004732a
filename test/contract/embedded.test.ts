import { describe, expect, it } from 'vitest';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { describeLedger } from '../../src/testing/index.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir } from '../support/temp-dir.js';

describeLedger({ describe, it, expect }, 'embedded (lmdb)', async () => {
  const clock = simulatedClock();
  const folder = tempDir('lmdb');
  const ledger = await lmdbLedger({ path: folder.path, clock });
  // opening a folder twice in one process is what a front with an operator's command in it does
  const second = await lmdbLedger({ path: folder.path, clock });
  return {
    ledger, second,
    pass: (ms) => clock.advance(ms),
    dispose: async () => {
      await second.close();
      await ledger.close();
      folder.remove();
    },
  };
}, { movableClock: true });
