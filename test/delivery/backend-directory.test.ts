import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { directoryBackend } from '../../src/delivery/backend-directory.js';
import type { Backend, Handed, Handover } from '../../src/endpoint/backend.js';
import { gate } from '../front/messages.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

let folder: TempDir;
beforeEach(() => {
  folder = tempDir('backend-directory');
});
afterEach(() => folder.remove());

const NAME = 'c'.repeat(32);

async function hand(backend: Backend, again: boolean, stream: () => AsyncIterable<Uint8Array>): Promise<Handed> {
  const payload = { mimeType: 'text/plain', partType: 'text/plain', properties: [], body: { length: 0, stream, dispose: async () => undefined } };
  return await backend.hand({ name: NAME, again, payloads: [payload], metadata: { payloads: [{}] }, signal: new AbortController().signal } as unknown as Handover);
}

// A process that was thought dead (its lease lapsed while its disk stood still) may live and go on writing. What takes the
// claim over removes its unfinished delivery, and must not leave it half removed under the delivery's name.
it('an attempt that was taken over while it wrote neither delivers nor breaks the delivery', async () => {
  const stood = gate();
  const goOn = gate();
  const slow = hand(directoryBackend({ directory: folder.path, clock: systemClock }), false, async function* () {
    yield Buffer.from('of the ');
    stood.open();
    await goOn.opened;
    yield Buffer.from('slow one');
  });
  await stood.opened;
  const other = await hand(directoryBackend({ directory: folder.path, clock: systemClock }), true, async function* () {
    yield Buffer.from('of the other');
  });
  expect(other).toEqual({ kind: 'accepted' });
  goOn.open();
  expect((await slow).kind).not.toBe('accepted');
  expect(readdirSync(folder.path)).toEqual([NAME]);
  expect(readFileSync(join(folder.path, NAME, 'payload-1.txt'), 'utf8')).toBe('of the other');
});
