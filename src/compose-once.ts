import { thisProcess } from './ledger/owner.js';
import type { Ledger } from './ledger/port.js';
import type { Owner } from './ledger/record.js';
import { runOnce, type Json, type OnceAttempt, type OnceCallOptions, type OnceMessage, type OnceResult } from './once.js';

let self: Owner | undefined;

/**
 * Runs `handler` once for a message, however often and wherever `once` is called for it on this ledger, and gives every
 * caller the handler's reply:
 *
 *     const result = await once(ledger, { reference: body.id, type: 'order', from: body.shop }, async () => book(body));
 *
 * See runOnce for what is thrown, and OnceResult for the five answers.
 */
export async function once<T extends Json | void>(
  ledger: Ledger, message: OnceMessage, handler: (attempt: OnceAttempt) => T | Promise<T>, options: OnceCallOptions = {},
): Promise<OnceResult<T>> {
  return await runOnce(ledger, message, handler, { ...options, owner: (self ??= thisProcess('once')) });
}

export { Uncertain } from './once.js';
