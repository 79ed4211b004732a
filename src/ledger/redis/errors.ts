import { As4OnceError } from '../../errors.js';

/**
 * What went wrong with a command, as the ledger says it (G8): never "new", never "duplicate". `trouble`: why there is no
 * connection; the command itself only learns that there is none ("Stream isn't writeable", "The client is offline").
 */
export function asLedgerError(error: unknown, claiming: boolean, trouble?: unknown): As4OnceError {
  if (error instanceof As4OnceError) return error;
  const own = messageOf(error);
  const text = trouble === undefined || SAID.test(own) ? own : messageOf(trouble);
  const code = text.replace(/^-/, '').split(/[\s:]/, 1)[0] ?? '';
  if (code === 'OOM' && claiming) return new As4OnceError('LEDGER_FULL', 'Redis has reached maxmemory', { cause: error });
  if (code === 'WRONGTYPE') return new As4OnceError('RECORD_UNREADABLE', 'another kind of value lies under the key', { cause: error });
  const shown = text.slice(0, 200).replace(/\.+$/, '');
  const said = /^[A-Z]{3,}$/.test(code) && code !== 'ERR' ? `Redis says ${shown}` : `Redis cannot be reached: ${shown}`;
  return new As4OnceError('LEDGER_DOWN', said, { cause: error });
}

export const isNoScript = (error: unknown): boolean => messageOf(error).replace(/^-/, '').startsWith('NOSCRIPT');

/** The server answered, and does not let our user do that. */
export const isForbidden = (error: unknown): boolean => messageOf(error).replace(/^-/, '').startsWith('NOPERM');

/** An answer of the server itself begins with a word in capitals. */
const SAID = /^-?[A-Z]{3,}(?=[\s:]|$)/;

/** The text of an error, or of what stands behind it. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  // a cluster says that it reached none of its nodes, and only beside that why
  const { lastNodeError } = (error ?? {}) as { lastNodeError?: unknown };
  if (lastNodeError instanceof Error) return messageOf(lastNodeError);
  return error instanceof Error ? error.message : String(error);
}
