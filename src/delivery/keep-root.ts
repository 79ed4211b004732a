import { deflateRawSync } from 'node:zlib';
import { rootShelf, ROOT_NAME, ROOT_SEEN } from '../ledger/shelves.js';
import type { Claim } from '../ledger/port.js';
import type { Step } from '../walk.js';
import type { TakenIn } from './take-in.js';

type Inbound = Extract<TakenIn, { kind: 'message' }>;

/**
 * Keeps the part that names the message, as it came with the accepted attempt, for evidence (`keepHeader`). Beside the
 * record and not within it, since it has a time of its own. The sender does not wait for it, and its loss loses nothing
 * but evidence.
 */
export function keepRoot({ walk }: Step, { root, rule }: Inbound, { key }: Claim): void {
  const keptMs = rule.keepHeader ?? 0;
  if (root === undefined || keptMs === 0) return;
  const entries = {
    [ROOT_NAME]: deflateRawSync(root).toString('base64'),
    [ROOT_SEEN]: new Date(walk.clock.now()).toISOString(),
  };
  walk.ledger.note({ shelf: rootShelf(key), entries, keptMs }).catch((error: unknown) => {
    walk.events.emit('fault', { code: 'INTERNAL', detail: `the SOAP part could not be kept: ${String(error)}`, key });
  });
}
