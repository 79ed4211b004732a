import type { z } from 'zod';
import type { Clock } from '../clock.js';
import type { Config } from '../config/config.js';
import { As4OnceError, type ErrorCode } from '../errors.js';
import type { Events } from '../events.js';
import type { Ledger, OperatorAnswer } from '../ledger/port.js';
import type { Decision, DuplicateKey, LedgerRecord } from '../ledger/record.js';
import { switchOff, switchOn } from '../operate/bypass.js';
import { parseDuration } from '../policy/duration.js';
import { receiptFrom } from '../receipt/receipt-file.js';
import { acceptRequest, bypassRequest, releaseRequest, settleRequest } from './api-schema.js';

export interface ActParts {
  readonly ledger: Ledger;
  readonly events: Events;
  readonly clock: Clock;
  /** The configuration in force now. */
  config(): Config;
}

/** Who asks, as far as the listener knows. */
export interface Actor {
  /** From the client certificate; a token says nothing about who holds it. */
  readonly name?: string;
  readonly peer: string;
}

/** What was asked for, as far as it is needed to say who did what and why. */
interface Asked {
  readonly reason: string;
  readonly who?: string | undefined;
  readonly key?: DuplicateKey;
}

/** Who acts and why, as it is written down. */
interface Deed {
  readonly who: string;
  readonly when: number;
  readonly reason: string;
}

/**
 * The acts of the admin API. Each needs a reason and a name, is written down where it belongs, and is told to the log
 * whether it was done or refused. The rules are the ledger's own: the same as for the commands.
 */
export async function settleAct(parts: ActParts, actor: Actor, body: unknown): Promise<LedgerRecord> {
  const asked = parsed(settleRequest, body);
  return await onRecord(parts, actor, 'settle', asked, async (decision, record) => {
    const receipt = receiptFrom(Buffer.from(asked.receipt, 'base64'), 'the upload', asked.contentType);
    if (receipt.refToMessageId !== record.reference) {
      throw new As4OnceError('RECEIPT_FOREIGN', `its RefToMessageId is ${JSON.stringify(receipt.refToMessageId)}`);
    }
    const { reply, fingerprint } = receipt;
    return await parts.ledger.operatorSettle({ key: asked.key, reply, fingerprint, decision, force: asked.force === true });
  });
}

export async function releaseAct(parts: ActParts, actor: Actor, body: unknown): Promise<LedgerRecord> {
  const asked = parsed(releaseRequest, body);
  return await onRecord(parts, actor, 'release', asked, (decision) =>
    parts.ledger.operatorRelease({ key: asked.key, decision, force: asked.force === true }));
}

/** Takes the ledger as it is although it went back in time. */
export async function acceptAct(parts: ActParts, actor: Actor, body: unknown): Promise<string> {
  const asked = parsed(acceptRequest, body);
  return await told(parts, actor, 'accept', asked, async ({ who, reason }) => {
    await parts.ledger.accept({ who, reason });
    return 'accepted: every node follows within seconds';
  });
}

/** Switches the ledger off for a while, or on again, for the servers of this machine. */
export async function bypassAct(parts: ActParts, actor: Actor, body: unknown): Promise<string> {
  const asked = parsed(bypassRequest, body);
  const { state } = parts.config();
  if (!asked.on) {
    return await told(parts, actor, 'bypass off', asked, async () => {
      await switchOff(state);
      return 'bypass off for the servers of this machine';
    });
  }
  return await told(parts, actor, 'bypass on', asked, async ({ who, when, reason }) => {
    if (asked.for === undefined) throw new As4OnceError('REQUEST_INVALID', 'for: is missing, such as 30m');
    const until = when + parseDuration(asked.for);
    await switchOn(state, { since: when, until, who, reason });
    return `bypass on until ${new Date(until).toISOString()} for the servers of this machine`;
  });
}

async function onRecord(
  parts: ActParts, actor: Actor, act: Decision['what'], asked: Asked & { readonly key: DuplicateKey },
  perform: (decision: Decision, record: LedgerRecord) => Promise<OperatorAnswer>,
): Promise<LedgerRecord> {
  return await told(parts, actor, act, asked, async (deed, name) => {
    const found = await parts.ledger.find(asked.key);
    if (found === undefined) throw new As4OnceError('NOT_FOUND', 'no record of this key');
    name(found.record.reference);
    return done(await perform({ what: act, ...deed }, found.record));
  });
}

/** Nothing is done that is not told, and what is told happened. `name` says which message it is about. */
async function told<T>(
  { events, clock }: ActParts, actor: Actor, act: string, { key, reason, who }: Asked,
  perform: (deed: Deed, name: (messageId: string) => void) => Promise<T>,
): Promise<T> {
  const by = actor.name ?? who;
  let messageId: string | undefined;
  const tell = (outcome: { done: boolean; code?: ErrorCode }): void => events.emit('operator', {
    act, who: by ?? '', reason, peer: actor.peer, ...outcome,
    ...(key === undefined ? {} : { key }),
    ...(messageId === undefined ? {} : { messageId }),
  });
  try {
    if (by === undefined) throw new As4OnceError('REQUEST_INVALID', 'who: is missing; a token does not say who acts');
    const result = await perform({ who: `${by} (admin API, ${actor.peer})`, when: clock.now(), reason }, (id) => void (messageId = id));
    tell({ done: true });
    return result;
  } catch (error) {
    tell({ done: false, code: error instanceof As4OnceError ? error.code : 'INTERNAL' });
    throw error;
  }
}

function done(answer: OperatorAnswer): LedgerRecord {
  switch (answer.kind) {
    case 'ok': return answer.record;
    case 'gone': throw new As4OnceError('NOT_FOUND', 'the record is gone');
    case 'live': throw new As4OnceError('LEASE_LIVE', answer.why);
    case 'notAllowed': throw new As4OnceError('NOT_ALLOWED', answer.why);
    case 'foreign': throw new As4OnceError('RECEIPT_FOREIGN', answer.why);
  }
}

/** Names the fields that are wrong, never their values. */
export function parsed<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  throw new As4OnceError('REQUEST_INVALID', problems.join('; '));
}
