import type { Answer, ReceiptReference, ReceiptSignal } from '../as4/answer.js';
import type { SignedReference } from '../as4/sign.js';
import type { Draft } from './draft.js';
import { Broken } from './requirement.js';

/** The answer is a Receipt for this message, with a 2xx status (AS4 5.1.8; AS4_CP_TA01). */
export function receiptFor(answer: Answer, draft: Pick<Draft, 'messageId'>, what = 'the answer'): ReceiptSignal {
  if (answer.receipt === undefined || answer.what !== 'receipt')
    throw new Broken(`${what} is no Receipt: ${describe(answer)}`);
  if (answer.status === undefined || answer.status < 200 || answer.status > 299)
    throw new Broken(`${what} is a Receipt with HTTP status ${answer.status}`);
  if (answer.receipt.refToMessageId !== draft.messageId) {
    throw new Broken(
      `${what} is a Receipt for ${JSON.stringify(answer.receipt.refToMessageId)} instead of ` +
        JSON.stringify(draft.messageId),
    );
  }
  return answer.receipt;
}

/** The target did not accept. Closing the connection is a way to refuse; not being there is none. */
export function noReceipt(answer: Answer, what = 'the answer'): void {
  if (answer.wire.kind === 'none' && answer.wire.why === 'refused') throw new Broken(`${what}: ${answer.wire.detail}`);
  if (answer.receipt !== undefined) throw new Broken(`${what} holds a Receipt: ${describe(answer)}`);
}

/** The answer is an ebMS Error, of one of these codes where some are given. */
export function ebmsError(answer: Answer, codes: readonly string[] = [], what = 'the answer'): void {
  noReceipt(answer, what);
  if (answer.what !== 'error') throw new Broken(`${what} is no ebMS Error: ${describe(answer)}`);
  if (codes.length > 0 && !answer.errors.some(({ code }) => codes.includes(code))) {
    throw new Broken(`${what} is ${answer.errors.map(({ code }) => code).join(', ')} instead of ${codes.join(' or ')}`);
  }
}

/** Refused in any way a sender understands: an ebMS Error, a SOAP Fault, or a status from 400 on. */
export function refused(answer: Answer, what = 'the answer'): void {
  noReceipt(answer, what);
  if (answer.what === 'error' || answer.what === 'fault' || (answer.status ?? 0) >= 400) return;
  throw new Broken(`${what} does not refuse the message: ${describe(answer)}`);
}

/** Leaves the sender free to try again: no ebMS Error of severity failure, no Fault, and no claim of success. */
export function retryable(answer: Answer): boolean {
  if (answer.what === 'none') return true;
  const transient =
    answer.status !== undefined && (answer.status >= 500 || answer.status === 429 || answer.status === 408);
  return transient && answer.what === 'other';
}

/** Two answers are the same bytes with the same status and media type. */
export function identical(first: Answer, second: Answer, what = 'the second answer'): void {
  if (second.status !== first.status)
    throw new Broken(`${what} has status ${second.status}, the first ${first.status}`);
  if (second.contentType !== first.contentType)
    throw new Broken(`${what} has Content-Type ${second.contentType}, the first ${first.contentType}`);
  if (!second.body.equals(first.body)) {
    throw new Broken(
      `${what} has other bytes: SHA-256 ${second.sha256} (${second.body.length} bytes), the first ${first.sha256} ` +
      `(${first.body.length} bytes); ${describe(second)}`,
    );
  }
}

/** The digests a Receipt acknowledges are those the message was signed with, no more and no fewer. */
export function sameDigests(receipt: ReceiptSignal, references: readonly SignedReference[]): void {
  const acknowledged = receipt.references;
  if (acknowledged === undefined) throw new Broken('the Receipt has no NonRepudiationInformation');
  const key = (reference: ReceiptReference) => `${reference.uri} ${reference.algorithm} ${reference.digest}`;
  const sent = new Set(references.map(key));
  const got = new Set(acknowledged.map(key));
  const missing = [...sent].filter((entry) => !got.has(entry));
  const extra = [...got].filter((entry) => !sent.has(entry));
  if (missing.length > 0)
    throw new Broken(
      `the Receipt does not acknowledge ${missing.join('; ')}${extra.length > 0 ? `, but ${extra.join('; ')}` : ''}`,
    );
  if (extra.length > 0) throw new Broken(`the Receipt acknowledges what was not signed: ${extra.join('; ')}`);
}

/** Digests of the payloads alone: what stays the same over honest retries. */
export function payloadDigests(
  references: readonly { readonly uri: string; readonly digest: string }[] | undefined,
): string {
  return (references ?? [])
    .filter(({ uri }) => uri.startsWith('cid:'))
    .map(({ digest }) => digest)
    .toSorted()
    .join(' ');
}

export function describe(answer: Answer): string {
  const detail = answer.errors[0]?.detail;
  return detail === undefined ? answer.summary : `${answer.summary} (${detail.slice(0, 200)})`;
}
