import { describe, expect, it } from 'vitest';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { edifact, x12 } from '../edi/samples.js';
import { tempDir } from '../support/temp-dir.js';
import { drop } from './fixture.js';

/** The full size is a bench (bench/storm.ts). */
const MESSAGES = 20;
const COPIES = 12;

describe('a partner that repeats itself', () => {
  it.each<['edifact' | 'x12', (ref: string) => string]>([['edifact', (ref) => edifact(ref)], ['x12', (ref) => x12(ref)]])(
    'gets each %s file delivered once, whichever of four watchers takes it', async (protocol, make) => {
      const folder = tempDir('storm');
      const ledger = await lmdbLedger({ path: `${folder.path}/ledger` });
      const { put, watch, names, text, seen } = drop({ root: folder.path, protocol, ledger });
      for (let copy = 0; copy < COPIES; copy += 1) {
        for (let n = 0; n < MESSAGES; n += 1) put('in', `${n}-${copy}.edi`, make(String(n + 1)));
      }
      const watchers = await Promise.all(Array.from({ length: 4 }, () => watch()));
      const pass = (): Promise<void[]> => Promise.all(watchers.map((one) => one.pass(true)));
      await pass();
      for (let round = 0; names('work').length > 0 && round < 20; round += 1) await pass();
      expect([names('in'), names('work'), names('refused'), names('quarantine'), seen.fault]).toEqual([[], [], [], [], undefined]);
      expect(names('duplicates')).toHaveLength(MESSAGES * (COPIES - 1));
      const delivered = names('out').map((name) => text('out', name)).sort();
      expect(delivered).toEqual(Array.from({ length: MESSAGES }, (_, n) => make(String(n + 1))).sort());
      await ledger.close();
      folder.remove();
    });
});
