import type { z } from 'zod';
import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import type { Events } from '../events.js';
import type { Ledger, OperatorAnswer } from '../ledger/port.js';
import type { Decision, DuplicateKey, LedgerRecord } from '../ledger/record.js';
import { receiptFrom } from '../receipt/receipt-file.js';
import { releaseRequest, settleRequest } from './api-schema.js';

export interface ActParts {
  readonly ledger: Ledger;
  readonly events: Events;
  readonly clock: Clock;
}

/** Who asks, as far as the listener knows. */
export interface Actor {
  /** From the client certificate; a token says nothing about who holds it. */
  readonly name?: string;
  readonly peer: string;
}

/** What was asked for, as far as it is needed to say who did what and why. */
interface Asked {
  readonly key: DuplicateKey;
  readonly reason: string;
  readonly who?: string | undefined;
}

/**
 * The acts of the admin API. Each needs a reason and a name, is written into the record, and is told to the log whether
 * it was done or refused. The rules are the ledger's own: the same as for the commands.
 */
export async function settleAct(parts: ActParts, actor: Actor, body: unknown): Promise<LedgerRecord> {
  const asked = parsed(settleRequest, body);
  return await audited(parts, actor, 'settle', asked, async (decision, record) => {
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
  return await audited(parts, actor, 'release', asked, (decision) =>
    parts.ledger.operatorRelease({ key: asked.key, decision, force: asked.force === true }));
}

/** Nothing is done that is not told, and what is told happened. */
async function audited(
  { ledger, events, clock }: ActParts, actor: Actor, act: Decision['what'], { key, reason, who }: Asked,
  perform: (decision: Decision, record: LedgerRecord) => Promise<OperatorAnswer>,
): Promise<LedgerRecord> {
  const name = actor.name ?? who;
  const told = { act, who: name ?? '', reason, peer: actor.peer, key };
  let messageId = '';
  try {
    if (name === undefined) throw new As4OnceError('REQUEST_INVALID', 'who: is missing; a token does not say who acts');
    const found = await ledger.find(key);
    if (found === undefined) throw new As4OnceError('NOT_FOUND', 'no record of this key');
    messageId = found.record.reference;
    const decision: Decision = { what: act, who: `${name} (admin API, ${actor.peer})`, when: clock.now(), reason };
    const record = done(await perform(decision, found.record));
    events.emit('operator', { ...told, messageId, done: true });
    return record;
  } catch (error) {
    const code = error instanceof As4OnceError ? error.code : 'INTERNAL';
    events.emit('operator', { ...told, messageId, done: false, code });
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
