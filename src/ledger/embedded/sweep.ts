import type { Store } from './store.js';
import { writeWithin } from './writes.js';

/** Keys removed in one transaction: about 5 ms of the event loop. */
const BATCH = 500;

/** Removes what may be forgotten, in small transactions with a fresh range each, until nothing is due. */
export async function sweep(store: Store, now: () => number, withinMs: number): Promise<void> {
  for (let done = false; !done;) done = await writeWithin(store, withinMs, () => store.sweep(now(), BATCH));
}
