import { describe, expect, it } from 'vitest';
import { memoryLedger } from '../../src/ledger/memory.js';
import { describeLedger } from '../../src/testing/index.js';
import { simulatedClock } from '../support/simulated-clock.js';

describeLedger({ describe, it, expect }, 'memory', async () => {
  const clock = simulatedClock();
  const ledger = memoryLedger({ clock });
  return { ledger, pass: (ms) => clock.advance(ms), dispose: () => ledger.close() };
}, { movableClock: true });
