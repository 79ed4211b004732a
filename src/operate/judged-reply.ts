import type { X509Certificate } from 'node:crypto';
import { answerRoot } from '../ebms/answer.js';
import { LIMITS } from '../limits.js';
import { independentlyVerify, type Judgement } from '../security/judge.js';

/** Has the independent implementation verify a Receipt or message, whatever it is wrapped in. Never throws. */
export function judgeStored(
  contentType: string | undefined,
  body: Uint8Array,
  certificate?: X509Certificate,
): Judgement {
  let root: Uint8Array | undefined;
  try {
    root = answerRoot(contentType, body, LIMITS);
  } catch (error) {
    return {
      ok: false,
      reason: `the package cannot be read: ${(error as Error).message.slice(0, 200)}`,
      unchecked: [],
    };
  }
  if (root === undefined) return { ok: false, reason: 'there is no envelope in it', unchecked: [] };
  return independentlyVerify(root, certificate);
}

/** One line a finding, for a terminal. */
export function judgementText({ ok, reason, signed, signer, unchecked }: Judgement): string {
  if (!ok) return `NOT verified: ${reason}\n`;
  return [
    ['verified', `${signed?.kind ?? 'message'} ${signed?.messageId ?? ''}`],
    ...(signed?.refToMessageId === undefined ? [] : [['for message', signed.refToMessageId]]),
    ['signed by', signer?.subject.replaceAll('\n', ', ') ?? ''],
    ['serial', signer?.serial ?? ''],
    ['valid to', signer?.validTo ?? ''],
    ...(signed?.acknowledged ?? []).map(({ uri, digest }) => ['acknowledges', `${uri} ${digest}`]),
    ...unchecked.map((uri) => ['not looked at', `${uri} (an attachment is no part of the envelope)`]),
  ]
    .map(([name = '', value = '']) => `${name.padEnd(14)}${value}\n`)
    .join('');
}
