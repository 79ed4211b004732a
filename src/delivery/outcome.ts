import { trim } from '../ebms/elements.js';
import type { Envelope, SignalMessage } from '../ebms/units.js';
import { cidPart, fingerprintFromReceipt } from '../ebms/fingerprint.js';
import type { ErrorCode } from '../errors.js';
import type { Fingerprint } from '../message.js';
import type { Outcome } from '../ledger/record.js';
import type { Rule } from '../policy/rule.js';
import type { AccessPoint, DuplicateError } from './access-points.js';
import { signerSerial } from '../receipt/signer.js';
import { judgeStatus } from './outcome-status.js';

/** What an upstream did with one attempt: everything that can happen, and nothing else. */
export type UpstreamAnswer =
  /** It answered. `body` is without any content coding, and only the beginning where `tooLarge`. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string | undefined;
      readonly body: Uint8Array;
      readonly envelope?: Envelope | undefined;
      readonly tooLarge: boolean;
    }
  /** Connection, DNS or TLS failed until `upstreamOutage` was over: nothing was sent. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** The connection ended, or spoke no HTTP, after something was sent. */
  | { readonly kind: 'reset'; readonly detail: string }
  /** Patience is over. */
  | { readonly kind: 'silent'; readonly detail: string };

export type Answered = Extract<UpstreamAnswer, { kind: 'answer' }>;

/** What the attempt was, as far as the judgement depends on it. */
export interface Sent {
  readonly messageId: string;
  readonly fingerprint: Fingerprint;
  /** What came before in the ledger's record: attempts that ended uncertain, and certain rejections. */
  readonly before: { readonly uncertain: boolean; readonly rejected: boolean };
  readonly rule: Pick<Rule, 'uncertain' | 'upstreamDuplicate' | 'replyPattern'>;
  readonly accessPoint: AccessPoint;
}

/** The rows of the outcome table, by name: they stand in record, log and metric. */
export type Reason =
  | 'receipt' | 'twoWay' | 'otherDigests' | 'receiptWithError' | 'error' | 'burnt' | 'duplicateAfterUncertain'
  | 'knownUpstream' | 'otherMessage' | 'warning' | 'noSignal' | 'callback' | 'clientError' | 'notReached'
  | 'serverError' | 'reset' | 'silent' | 'refused' | 'replyTooLarge' | 'status';

export interface Verdict {
  readonly outcome: Outcome;
  readonly reason: Reason;
  /** `answer`: status, Content-Type and body of the upstream, unchanged; otherwise a plain refusal of our own. */
  readonly send: 'answer' | ErrorCode;
  /** Hold for an operator instead of open. */
  readonly hold: boolean;
  /** False where a rejection does not count as one that may have burnt the id. */
  readonly counts: boolean;
  readonly alert?: 'burnt' | 'wrongAnswer' | 'replyTooLarge' | 'otherDigests';
  /** For what is stored with an accepted reply. */
  readonly receiptId?: string;
  readonly signerSerial?: string;
}

type More = Partial<Pick<Verdict, 'hold' | 'counts' | 'alert'>>;

/** The outcome table for AS4 (design: outcome of a delivery); what was certain is certain whatever the HTTP status. */
export function judge(what: UpstreamAnswer, sent: Sent): Verdict {
  if (what.kind !== 'answer') return judgeSilence(what.kind, sent);
  if (what.tooLarge) return uncertain('replyTooLarge', 'answer', sent, { alert: 'replyTooLarge' });
  return judgeEnvelope(what, sent) ?? judgeBare(what, sent);
}

/** The same for protocols without signals: EDI over HTTP and `reference`. `accept` lists statuses, default 2xx. */
export function judgeByStatus(what: UpstreamAnswer, accept: readonly string[] | undefined, sent: Sent): Verdict {
  if (what.kind !== 'answer') return judgeSilence(what.kind, sent);
  if (what.tooLarge) return uncertain('replyTooLarge', 'answer', sent, { alert: 'replyTooLarge' });
  const outcome = judgeStatus(what.status, accept, sent.accessPoint.notReached);
  return outcome === 'uncertain' ? uncertain('status', 'answer', sent) : certain(outcome, 'status', 'answer');
}

/** No answer at all. */
function judgeSilence(kind: 'refused' | 'reset' | 'silent', sent: Sent): Verdict {
  switch (kind) {
    case 'refused': {
      // Nothing was sent, so this copy cannot have burnt the id. But an access point that was down has lost its memory,
      // and an earlier uncertain attempt can no longer be told from its answers.
      const lost = sent.before.uncertain && holds(sent, true);
      return certain('rejected', 'refused', 'UPSTREAM_DOWN', { counts: false, hold: lost });
    }
    case 'reset':
      return uncertain('reset', 'UPSTREAM_UNCLEAR', sent, { hold: holds(sent, true) });
    case 'silent':
      return uncertain('silent', 'ANSWER_LATE', sent);
  }
}

/** Judges by the signals; undefined where there is none that says anything. */
function judgeEnvelope({ envelope }: Answered, sent: Sent): Verdict | undefined {
  if (envelope === undefined) return undefined;
  const found = sort(envelope, sent.messageId);
  const { receipts, reply } = found;
  if (receipts.length > 0 || reply !== undefined) {
    if (found.failures.length > 0 || found.foreignFailure) return uncertain('receiptWithError', 'answer', sent);
    if (receipts.some((receipt) => hasOtherDigests(receipt, sent.fingerprint))) {
      return uncertain('otherDigests', 'answer', sent, { alert: 'otherDigests' });
    }
    return accepted(envelope, receipts[0]?.messageId ?? reply?.messageId, receipts.length > 0 ? 'receipt' : 'twoWay');
  }
  if (found.failures.length > 0) return judgeFailure(found, sent);
  if (found.foreign) return uncertain('otherMessage', 'UPSTREAM_WRONG', sent, { alert: 'wrongAnswer' });
  return found.warnings > 0 ? uncertain('warning', 'answer', sent) : undefined;
}

function judgeFailure({ failures }: Found, sent: Sent): Verdict {
  const { before, accessPoint, rule } = sent;
  if (!failures.some((failure) => accessPoint.duplicateErrors.some((known) => matches(failure, known)))) {
    return certain('rejected', 'error', 'answer');
  }
  // It knows the id. After an uncertain attempt it may have delivered then, and no Receipt tells: an operator must look.
  if (before.uncertain) return uncertain('duplicateAfterUncertain', 'HELD', sent, { hold: true });
  if (before.rejected) return certain('rejected', 'burnt', 'UPSTREAM_BURNT', { alert: 'burnt' });
  const hold = rule.upstreamDuplicate === 'hold';
  return certain('rejected', 'knownUpstream', hold ? 'HELD' : 'answer', { counts: false, hold });
}

/** No signal: only the HTTP status is left, and a 2xx alone proves nothing. */
function judgeBare({ status, body }: Answered, sent: Sent): Verdict {
  if (sent.accessPoint.notReached.includes(status)) return certain('rejected', 'notReached', 'answer');
  if (status >= 400 && status < 500) return certain('rejected', 'clientError', 'answer');
  if (status >= 400) return uncertain('serverError', 'UPSTREAM_UNCLEAR', sent);
  const empty = body.byteLength === 0;
  if (empty && sent.rule.replyPattern === 'callback') return uncertain('callback', 'answer', sent, { hold: false });
  return uncertain('noSignal', empty ? 'UPSTREAM_UNCLEAR' : 'answer', sent);
}

/** Signals and errors of an answer, sorted by whose they are. */
interface Found {
  readonly receipts: readonly SignalMessage[];
  readonly reply?: { readonly messageId: string };
  readonly failures: readonly Failure[];
  readonly warnings: number;
  /** Something refers to another message, or is a Receipt or UserMessage that refers to none. */
  readonly foreign: boolean;
  readonly foreignFailure: boolean;
}

interface Failure {
  readonly code: string;
  readonly text: string;
}

function sort({ signals, userMessage }: Envelope, messageId: string): Found {
  // layout around an id as the key's own reading takes it off (as4.ts): any other character is part of it
  const bare = (id = ''): string => trim(id);
  const reply = bare(userMessage?.refToMessageId) === messageId ? userMessage : undefined;
  const receipts: SignalMessage[] = [];
  const failures: Failure[] = [];
  let warnings = 0;
  let foreign = userMessage !== undefined && reply === undefined;
  let foreignFailure = false;
  for (const signal of signals) {
    if (signal.receipt !== undefined || signal.kinds.includes('Receipt')) {
      if (bare(signal.refToMessageId) === messageId) receipts.push(signal);
      else foreign = true;
    }
    for (const error of signal.errors) {
      // Core 6.3: RefToMessageId of the signal speaks for all its errors; the attribute is left for bundles without it.
      const ref = bare(signal.refToMessageId) || bare(error.refToMessageInError) || messageId;
      const failure = error.severity.trim().toLowerCase() === 'failure';
      if (ref !== messageId) {
        foreign = true;
        foreignFailure ||= failure;
      } else if (failure) {
        failures.push({ code: error.code.trim(), text: textOf(error) });
      } else {
        warnings += 1;
      }
    }
  }
  return { receipts, failures, warnings, foreign, foreignFailure, ...(reply === undefined ? {} : { reply }) };
}

function textOf(error: { shortDescription?: string; description?: string; detail?: string }): string {
  return [error.shortDescription, error.description, error.detail].join('\n').toLowerCase();
}

function matches(failure: Failure, known: DuplicateError): boolean {
  return failure.code === known.code && (known.says === undefined || failure.text.includes(known.says.toLowerCase()));
}

/**
 * Whether the Receipt speaks of other content. Only `cid:` digests are compared: senders give Messaging and Body new
 * Ids on a retry. A message whose payloads were not signed has no digests to compare, and an NRI without `cid:` names none.
 */
function hasOtherDigests(signal: SignalMessage, fingerprint: Fingerprint): boolean {
  const proven = fingerprintFromReceipt(signal.receipt?.nri ?? []);
  const sent = cidPart(fingerprint);
  return proven !== undefined && sent !== undefined && proven !== sent;
}

function accepted(envelope: Envelope, receiptId: string | undefined, reason: 'receipt' | 'twoWay'): Verdict {
  const serial = signerSerial(envelope.signatures);
  return {
    ...certain('accepted', reason, 'answer'),
    ...(receiptId === undefined ? {} : { receiptId }),
    ...(serial === undefined ? {} : { signerSerial: serial }),
  };
}

function certain(outcome: 'accepted' | 'rejected', reason: Reason, send: Verdict['send'], more: More = {}): Verdict {
  return { outcome, reason, send, hold: false, counts: true, ...more };
}

function uncertain(reason: Reason, send: Verdict['send'], sent: Sent, more: More = {}): Verdict {
  return { outcome: 'uncertain', reason, send, hold: holds(sent, false), counts: true, ...more };
}

/**
 * Whether policy already knows that no later copy may be redelivered (`uncertain:`). Where the access point remembers for
 * a while, the ledger judges at the next claim. `broken`: it was reset or down, and may have forgotten.
 */
function holds({ rule, accessPoint }: Sent, broken: boolean): boolean {
  if (rule.uncertain !== 'auto') return rule.uncertain === 'hold';
  return accessPoint.remembersMs === 0 || (broken && !accessPoint.persistent);
}
