import { z } from 'zod';
import { LIMITS, TIMES, type Limits, type Times } from '../limits.js';
import { formatDuration } from '../policy/duration.js';
import { formatSize } from '../policy/size.js';
import { count, duration, positiveDuration, present, section, size } from './values.js';

const bytes = (name: keyof Limits, words: string) => size.optional()
  .describe(`${words} Default ${formatSize(LIMITS[name])}.`);
const number = (name: keyof Limits, most: number, words: string) =>
  count(1, most).optional().describe(`${words} Default ${LIMITS[name]}.`);

export const limitsSchema = section({
  rootPart: bytes('rootPart', 'Largest SOAP part.'),
  depth: number('depth', 1_000, 'Deepest nesting of elements in the envelope.'),
  parts: number('parts', 100_000, 'Most MIME parts in one package.'),
  partHeaders: bytes('partHeaders', 'Most header bytes of one MIME part.'),
  messageId: number('messageId', 65_535, 'Longest MessageId, bytes of UTF-8.'),
  partyId: number('partyId', 65_535, 'Longest PartyId, bytes of UTF-8.'),
  maxBody: bytes('maxBody', 'Largest request body; beyond it 413.'),
  memoryPerBody: bytes('memoryPerBody', 'How much of one body is kept in memory before the spool is used.'),
  spoolMemory: bytes('spoolMemory', 'All bodies in memory together.'),
  spoolDisk: bytes('spoolDisk', 'All spool files together; beyond it 503.'),
  maxReply: bytes('maxReply', 'Largest reply that is stored; a larger one is passed on but cannot be replayed.'),
  waitersPerKey: number('waitersPerKey', 100_000, 'Most copies that wait for one message; beyond it 503 at once.'),
  waiters: number('waiters', 1_000_000, 'Most copies that wait in this process; beyond it 503 at once.'),
  minRate: bytes('minRate', 'Slowest sender, per second.'),
  drain: bytes('drain', 'How much of a refused body is read and thrown away before the connection is closed.'),
  attempts: number('attempts', 64, 'Attempts kept in a record.'),
} satisfies Record<keyof Limits, z.ZodType>);

const time = (name: keyof Times, words: string) => positiveDuration.optional()
  .describe(`${words} Default ${formatDuration(TIMES[name])}.`);
const timeOrNone = (name: keyof Times, words: string) => duration.optional()
  .describe(`${words} Default ${formatDuration(TIMES[name])}.`);

export const timesSchema = section({
  headers: time('headers', 'Request headers must be complete within.'),
  bodyIdle: time('bodyIdle', 'Longest pause in a request body.'),
  lease: time('lease', 'How long a claim is ours without renewal.'),
  renew: positiveDuration.optional()
    .describe('How often a claim is renewed: less than half of the lease. Default a quarter of the lease.'),
  wait: timeOrNone('wait', 'How long a copy waits for the copy in progress.'),
  ledgerOutage: timeOrNone('ledgerOutage', 'How long a request is held while the ledger cannot be reached; then 503.'),
  upstreamOutage: timeOrNone('upstreamOutage', 'How long a refused connection to it is tried again; then 503.'),
  answerBy: time('answerBy', 'From the end of the request to the answer; then 504 while the attempt goes on.'),
  patience: time('patience', 'How long a late answer of the access point is awaited, judged and settled.'),
  settle: time('settle', 'How long a settle is tried before the reply goes to the journal.'),
  retryAfter: time('retryAfter', 'Retry-After of a 503, spread by half either way.'),
  retryAfterHeld: time('retryAfterHeld', 'Retry-After of a held message.'),
  poll: time('poll', 'How often a waiting copy looks for itself.'),
  shutdownGrace: timeOrNone('shutdownGrace', 'How long what is in flight may take when the process is asked to end.'),
  openKept: time('openKept', 'How long a certain rejection is remembered, at most the window.'),
} satisfies Record<keyof Times, z.ZodType>);

export function limitsOf(given: z.output<typeof limitsSchema> | undefined): Limits {
  return { ...LIMITS, ...present(given) };
}

/** `renew` follows the lease where only the lease is given, so that a short lease alone is a valid file. */
export function timesOf(given: z.output<typeof timesSchema> | undefined): Times {
  const renew = Math.min(TIMES.renew, Math.max(1, Math.floor((given?.lease ?? TIMES.lease) / 4)));
  return { ...TIMES, renew, ...present(given) };
}
