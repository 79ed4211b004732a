import { As4OnceError } from '../../errors.js';
import type { Store } from './store.js';

/**
 * Transactions with an end. A process of the machine that is stopped while it holds LMDB's lock stops the writes of all
 * others; they answer LEDGER_DOWN then, and what they had asked for is not executed afterwards.
 */
export function writeWithin<T>(store: Store, withinMs: number, body: () => T): Promise<T> {
  // one promise by hand, since every message waits here twice: a race of two costs four
  return new Promise<T>((resolve, reject) => {
    let abandoned = false;
    const timer = setTimeout(() => {
      abandoned = true;
      reject(new As4OnceError('LEDGER_DOWN', `the embedded ledger did not take a write within ${withinMs} ms: another process holds it`));
    }, withinMs);
    const written = store.write(() => {
      if (abandoned) throw new As4OnceError('LEDGER_DOWN', 'given up');
      return body();
    });
    written.then((value) => {
      clearTimeout(timer);
      resolve(value);
    }, (error: unknown) => {
      clearTimeout(timer);
      // also after it was given up: LMDB's own reason must find somebody who listens, or the process ends
      void asLedgerError(error).then(reject);
    });
  });
}

/** What LMDB says of a failed commit: a full disk or map, or anything else that keeps it from writing. */
export async function asLedgerError(error: unknown): Promise<Error> {
  if (error instanceof As4OnceError) return error;
  const { commitError } = error as { commitError?: Promise<unknown> };
  const cause = commitError === undefined ? error : await commitError.catch((reason: unknown) => reason);
  const text = cause instanceof Error ? cause.message : String(cause);
  const full = /no space|ENOSPC|disk quota|MAP_FULL|EDQUOT|file too large|EFBIG/i.test(text);
  return new As4OnceError(full ? 'LEDGER_FULL' : 'LEDGER_DOWN', `the embedded ledger could not write: ${text}`, { cause });
}
