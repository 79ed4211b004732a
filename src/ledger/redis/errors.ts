import { As4OnceError } from '../../errors.js';

/** What went wrong with a command, as the ledger says it (G8): never "new", never "duplicate". */
export function asLedgerError(error: unknown, claiming: boolean): As4OnceError {
  if (error instanceof As4OnceError) return error;
  const text = messageOf(error);
  const code = text.replace(/^-/, '').split(/[\s:]/, 1)[0] ?? '';
  if (code === 'OOM' && claiming) return new As4OnceError('LEDGER_FULL', 'Redis has reached maxmemory', { cause: error });
  if (code === 'WRONGTYPE') return new As4OnceError('RECORD_UNREADABLE', 'another kind of value lies under the key', { cause: error });
  const said = /^[A-Z]{3,}$/.test(code) && code !== 'ERR' ? `Redis says ${text.slice(0, 200)}` : `Redis cannot be reached: ${text.slice(0, 200)}`;
  return new As4OnceError('LEDGER_DOWN', said, { cause: error });
}

export const isNoScript = (error: unknown): boolean => messageOf(error).replace(/^-/, '').startsWith('NOSCRIPT');

/** The server answered, and does not let our user do that. */
export const isForbidden = (error: unknown): boolean => messageOf(error).replace(/^-/, '').startsWith('NOPERM');

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
