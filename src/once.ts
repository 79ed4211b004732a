import { createHash } from 'node:crypto';
import { systemClock, type Clock } from './clock.js';
import { idempotencyKey } from './delivery/idempotency-key.js';
import { As4OnceError } from './errors.js';
import type { Claim, ClaimAnswer, Ledger } from './ledger/port.js';
import type { LedgerRecord, Owner } from './ledger/record.js';
import { TIMES } from './limits.js';
import type { Message, Party } from './message.js';
import { parseDuration } from './policy/duration.js';
import { duplicateKey, partiesText } from './policy/key.js';
import type { Granularity } from './policy/rule.js';
import { openReply, storeReply } from './receipt/stored-reply.js';

/** What can be stored and given back: JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** What makes a message the same one. */
export interface OnceMessage {
  /** What its sender makes unique; compared exactly, at most 255 bytes. An id that you made yourself is none. */
  readonly reference: string;
  /** With the reference, as in (External Reference, Type): an order 7 is not an invoice 7. */
  readonly type?: string;
  /** Who says so. Another sender's reference is another message. */
  readonly from?: string | Party;
  readonly to?: string | Party;
  /** The content, or a digest of it: the same reference with other content is a `mismatch`. Left out: never one. */
  readonly content?: string | Uint8Array;
}

export interface OnceCallOptions {
  /** How long a message is remembered: ms or a duration such as `90d`. Default 90d. */
  readonly window?: number | string;
  /** How long a copy waits for the one in progress before it is `inFlight`: ms or a duration. Default 0. */
  readonly wait?: number | string;
  /** Keeps references apart: tenant, test or production. Default `default`. */
  readonly scope?: string;
  /** Default `reference+sender`. */
  readonly key?: Granularity;
  /** After an attempt whose outcome is not known: `hold` (default) until an operator decides, or `redeliver`. */
  readonly uncertain?: 'hold' | 'redeliver';
  /** How long a claim is ours without renewal; it is renewed while the handler runs. Default 20s. */
  readonly lease?: number | string;
  readonly clock?: Clock;
}

/** What the handler is told. */
export interface OnceAttempt {
  /** `redelivery`: an earlier attempt may have done its work; `late`: a copy came after its window. */
  readonly mark: 'first' | 'redelivery' | 'late';
  /** The same for every attempt that may have worked, new after one that certainly did not: an Idempotency-Key to pass on. */
  readonly idempotencyKey: string;
  /** Aborts when the claim was lost to another process; what is done after that may be done twice. */
  readonly signal: AbortSignal;
}

export type OnceResult<T extends Json | void> =
  /** The handler ran, and its reply is in the ledger. */
  | { readonly kind: 'first'; readonly mark: OnceAttempt['mark']; readonly reply: T }
  /** It ran before: the stored reply. `copies` counts those after the first. */
  | { readonly kind: 'replay'; readonly reply: T; readonly firstSeen: number; readonly copies: number }
  /** It runs now, here or elsewhere. */
  | { readonly kind: 'inFlight'; readonly since: number }
  /** The reference was used for other content, or (key `reference`) by another sender. */
  | { readonly kind: 'mismatch'; readonly firstSeen: number }
  /** An attempt ended without a certain outcome, or the message was imported without a reply: an operator decides. */
  | { readonly kind: 'held'; readonly firstSeen: number };

/** Thrown by a handler that cannot tell whether its work was done. Anything else that is thrown means: it was not. */
export class Uncertain extends Error {
  override readonly name = 'Uncertain';
}

/** Options with who claims, so that a claim whose process died is known for dead. */
export type OnceSettings = OnceCallOptions & { readonly owner: Owner };

const JSON_TYPE = 'application/json';
const WINDOW = 90 * 86_400_000;

/**
 * Runs `handler` once for a message, however often and wherever `once` is called for it, and gives every caller its
 * reply. The reply is in the ledger before this returns. A handler that throws releases the message and the error is
 * thrown on; `throw new Uncertain()` keeps it from being tried again (policy `uncertain`).
 * @throws As4OnceError LEDGER_DOWN where the ledger cannot be reached: before the handler ran, nothing was done; after
 *   it, its outcome counts as uncertain.
 */
export async function runOnce<T extends Json | void>(
  ledger: Ledger, message: OnceMessage, handler: (attempt: OnceAttempt) => T | Promise<T>, options: OnceSettings,
): Promise<OnceResult<T>> {
  const clock = options.clock ?? systemClock;
  const deadline = clock.monotonic() + ms(options.wait, 0);
  for (let counted = false; ; counted = true) {
    const claim = claimOf(message, options, clock, counted);
    const answer = await ledger.claim(claim);
    if (answer.kind === 'claimed') return await run(ledger, clock, claim, answer, handler);
    const { record } = answer;
    if (answer.kind === 'settled') return replayOf<T>(record);
    if (answer.kind === 'mismatch') return { kind: 'mismatch', firstSeen: record.born };
    if (answer.kind === 'held' || answer.kind === 'known') return { kind: 'held', firstSeen: record.born };
    const left = deadline - clock.monotonic();
    if (left <= 0) return { kind: 'inFlight', since: record.attempts.at(-1)?.began ?? record.born };
    await changed(ledger, clock, claim.key, left);
  }
}

type Granted = Extract<ClaimAnswer, { kind: 'claimed' }>;

async function run<T extends Json | void>(
  ledger: Ledger, clock: Clock, claim: Claim, granted: Granted, handler: (attempt: OnceAttempt) => T | Promise<T>,
): Promise<OnceResult<T>> {
  const { key, token, fingerprint } = claim;
  const lost = new AbortController();
  const done = new AbortController();
  const began = clock.monotonic();
  void keep(ledger, clock, claim, lost, done.signal);
  let reply: T;
  try {
    reply = await handler({ mark: granted.mark, idempotencyKey: idempotencyKey(granted.record), signal: lost.signal });
  } catch (error) {
    done.abort();
    const uncertain = error instanceof Uncertain;
    await ledger.release({
      key, token, claim, outcome: uncertain ? 'uncertain' : 'rejected', reason: error instanceof Error ? error.message.slice(0, 200) : 'thrown',
      hold: uncertain && claim.uncertain === 'hold', counts: true, openKeptMs: claim.openKeptMs,
    });
    throw error;
  }
  done.abort();
  const stored = storeReply({ status: 200, contentType: JSON_TYPE, body: Buffer.from(reply === undefined ? '' : JSON.stringify(reply)) });
  const answer = await settled(ledger, clock, { key, token, fingerprint, reply: stored, claim }, began);
  // overtaken: whoever came first speaks for the message
  if (answer.kind === 'stale' && answer.record.state === 'settled') return replayOf<T>(answer.record);
  return { kind: 'first', mark: granted.mark, reply };
}

/** The handler did its work, so a ledger that cannot be reached is tried again for a while. */
async function settled(ledger: Ledger, clock: Clock, command: Omit<Parameters<Ledger['settle']>[0], 'beganMsAgo'>, began: number): Promise<Awaited<ReturnType<Ledger['settle']>>> {
  const until = clock.monotonic() + TIMES.settle;
  for (;;) {
    try {
      return await ledger.settle({ ...command, beganMsAgo: Math.round(clock.monotonic() - began) });
    } catch (error) {
      if (!(error instanceof As4OnceError) || error.code !== 'LEDGER_DOWN' || clock.monotonic() >= until) throw error;
      await clock.sleep(TIMES.poll);
    }
  }
}

/** Renews the claim while the handler runs. */
async function keep(ledger: Ledger, clock: Clock, { key, token, leaseMs, patienceMs }: Claim, lost: AbortController, done: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(leaseMs / 4, done);
    if (done.aborted) return;
    // one renewal that fails is no loss: three more fit into the lease
    const answer = await ledger.renew({ key, token, leaseMs, patienceMs }).catch(() => undefined);
    if (answer !== undefined && answer.kind !== 'ok' && !done.aborted) {
      lost.abort();
      return;
    }
  }
}

/** Waits until the record may have changed. A wake-up is a hint; looking again every `poll` is the guarantee (G10). */
async function changed(ledger: Ledger, clock: Clock, key: string, left: number): Promise<void> {
  const woken = new AbortController();
  const unwatch = ledger.watch(key, () => woken.abort());
  try {
    await clock.sleep(Math.min(left, TIMES.poll), woken.signal);
  } finally {
    unwatch();
  }
}

function replayOf<T extends Json | void>(record: LedgerRecord): OnceResult<T> {
  const { reply, born: firstSeen, copies } = record;
  if (reply === undefined) return { kind: 'held', firstSeen };
  const text = Buffer.from(openReply(reply)).toString('utf8');
  if (reply.contentType !== JSON_TYPE) {
    throw new As4OnceError('RECORD_UNREADABLE', `the stored reply is ${reply.contentType} and not of once()`);
  }
  return { kind: 'replay', reply: (text === '' ? undefined : JSON.parse(text)) as T, firstSeen, copies };
}

function claimOf(given: OnceMessage, options: OnceSettings, clock: Clock, counted: boolean): Claim {
  const message = messageOf(given);
  const scope = options.scope ?? 'default';
  return {
    key: duplicateKey(message, options.key ?? 'reference+sender', scope),
    protocol: message.protocol, scope, reference: message.reference, ...(message.type === undefined ? {} : { type: message.type }),
    rule: 'once', sender: partiesText(message.facts.from), fingerprint: message.fingerprint, facts: message.facts,
    token: clock.id(), owner: options.owner, counted,
    leaseMs: ms(options.lease, TIMES.lease), windowMs: ms(options.window, WINDOW), lateMs: 0, patienceMs: TIMES.patience, openKeptMs: TIMES.openKept,
    uncertain: options.uncertain ?? 'hold', remembersMs: 0, otherSender: 'refuse', known: 'hold', notAfterMs: TIMES.ledgerOutage,
  };
}

function messageOf({ reference, type, from, to, content }: OnceMessage): Message {
  if (reference === '' || Buffer.byteLength(reference) > 255) {
    throw new As4OnceError('REFERENCE_MISSING', 'a reference has 1 to 255 bytes');
  }
  const digest = content === undefined ? 'none' : createHash('sha256').update(content).digest('hex');
  return {
    protocol: 'reference', reference, ...(type === undefined ? {} : { type }),
    facts: { from: party(from), to: party(to), ...(type === undefined ? {} : { action: type }) },
    fingerprint: `plain:${digest}`, signed: false,
  };
}

function party(given: string | Party | undefined): readonly Party[] {
  if (given === undefined) return [];
  return [typeof given === 'string' ? { value: given } : given];
}

function ms(given: number | string | undefined, otherwise: number): number {
  return given === undefined ? otherwise : typeof given === 'number' ? given : parseDuration(given);
}
