import type { Outcome } from '../ledger/record.js';

/**
 * What a status alone says, for protocols whose answers carry no signal. `accept` holds statuses (`204`), classes (`2xx`)
 * or ranges (`200-204`); where it is given, nothing else is accepted.
 */
export function judgeStatus(status: number, accept: readonly string[] = ['2xx'], notReached: readonly number[] = []): Outcome {
  if (accept.some((one) => statusMatches(status, one))) return 'accepted';
  if (notReached.includes(status) || (status >= 400 && status < 500)) return 'rejected';
  return 'uncertain';
}

function statusMatches(status: number, one: string): boolean {
  const range = /^(\d{3})\s*-\s*(\d{3})$/.exec(one.trim());
  if (range !== null) return status >= Number(range[1]) && status <= Number(range[2]);
  const text = one.trim().toLowerCase();
  return /^\dxx$/.test(text) ? String(status)[0] === text[0] : String(status) === text;
}
