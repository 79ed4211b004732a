import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { project, typicalRecord } from '../../src/config/projection.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { SMALLEST } from './smallest.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'as4-once-projection-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the projected size', () => {
  it('is what the embedded ledger takes for such records, within a fifth', async () => {
    const records = 3_000;
    const ledger = await lmdbLedger({ path: folder });
    try {
      for (let i = 0; i < records; i += 500) await Promise.all(Array.from({ length: 500 }, () => ledger.adopt(aRecord())));
      const { bytes } = await ledger.stats();
      const { bytesPerRecord } = project(loadConfig({ text: SMALLEST }, { env: {} }), { messages: 1, per: 1_000 });
      expect(bytes / records / bytesPerRecord).toBeGreaterThan(0.8);
      expect(bytes / records / bytesPerRecord).toBeLessThan(1.2);
    } finally {
      await ledger.close();
    }
  });
});

/** As typical as the projection assumes, with bytes that no page can share. */
function aRecord(): ReturnType<typeof typicalRecord> {
  const record = typicalRecord(2_889);
  const key = `${randomBytes(32).toString('hex')}:${randomBytes(32).toString('base64url')}`;
  return { ...record, key, born: Date.now(), window: 90 * 86_400_000 };
}
