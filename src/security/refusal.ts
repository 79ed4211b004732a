import type { ErrorCode } from '../errors.js';
import type { TrustReason } from './trust.js';

/** Why a message's security was refused. A closed list: it stands in the log and in metrics. */
export type SecurityReason =
  | TrustReason
  | 'unsigned' | 'severalSignatures' | 'malformed' | 'comment' | 'algorithm' | 'weakKey' | 'dangling' | 'referenceSet'
  | 'digest' | 'signatureValue' | 'token' | 'party' | 'attachment' | 'decryption';

/** A refusal as a value: never thrown, so that no caller can forget it. `detail` is for the log, not for the sender. */
export interface SecurityRefusal {
  readonly ok: false;
  readonly reason: SecurityReason;
  readonly code: ErrorCode;
  readonly detail: string;
}

const CODES: Readonly<Partial<Record<SecurityReason, ErrorCode>>> = {
  unsigned: 'UNSIGNED',
  algorithm: 'POLICY_FAILED',
  weakKey: 'POLICY_FAILED',
  referenceSet: 'POLICY_FAILED',
  comment: 'HEADER_INVALID',
  decryption: 'DECRYPTION_FAILED',
};

export function refusal(reason: SecurityReason, detail: string): SecurityRefusal {
  return { ok: false, reason, code: CODES[reason] ?? 'AUTHENTICATION_FAILED', detail };
}
