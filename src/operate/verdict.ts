import { SAME_CONTENT } from '../delivery/second-keys.js';
import type { LedgerRecord } from '../ledger/record.js';
import { formatDuration } from '../policy/duration.js';

/** What an operator should think of a record, in a sentence or two, and whether somebody has to do something. */
export interface Verdict {
  readonly level: 'fine' | 'look' | 'act';
  readonly text: string;
}

/** So many copies after its Receipt, and no sender of sound mind is behind them. */
const STORM = 5;
const MINUTE = 60_000;

export function verdict(record: LedgerRecord, now: number): Verdict {
  switch (record.state) {
    case 'settled':
      return ofSettled(record);
    case 'held':
      return {
        level: 'act',
        text:
          `Held: ${whyUncertain(record)}. Look whether the access point has the message; ` +
          'settle with its Receipt if so, release if not.',
      };
    case 'open':
      return ofOpen(record);
    case 'claimed':
      return ofClaimed(record, now);
    case 'known':
      return {
        level: 'fine',
        text:
          `Accepted elsewhere before ${iso(record.born)} and imported without a Receipt: ` +
          `copies cannot be answered with one.${copies(record)}`,
      };
  }
}

function ofSettled(record: LedgerRecord): Verdict {
  const receipt = record.reply?.receiptId === undefined ? 'its reply' : `Receipt ${record.reply.receiptId}`;
  if (record.twoContents === true) {
    return {
      level: 'look',
      text:
        `The access point accepted two contents under this id; ${receipt} is for the first. ` +
        'Ask the sender why it used the id twice.',
    };
  }
  const { copies: count } = record;
  if (count === 0) return { level: 'fine', text: `Accepted once, answered with ${receipt}; no copy came.` };
  const since = record.attempts.findLast(({ outcome }) => outcome === 'accepted')?.ended ?? record.born;
  const within = record.lastSeen - since;
  if (count < STORM)
    return {
      level: 'fine',
      text:
        `Accepted, and ${count === 1 ? 'one copy' : `${count} copies`} answered with the same ${receipt}: ` +
        'a sender that missed an answer.',
    };
  return {
    level: 'look',
    text: `${count} copies in ${span(within)} after a Receipt: the sender does not accept it. ${compare(record)}`,
  };
}

/** What the two sides may see differently, in the order in which it is usually found. */
function compare({ reply }: LedgerRecord): string {
  const serial =
    reply?.signerSerial === undefined
      ? 'the certificate that signed the Receipt (as4-once verify shows it)'
      : `signer serial ${reply.signerSerial}`;
  const bytes =
    reply === undefined
      ? 'the reply'
      : `the ${reply.length.toLocaleString('en')} bytes it got (sha256 ${reply.sha256.slice(0, 16)}…)`;
  return (
    `Compare its view of ${serial} (trusted? expired there?), of the digests in the Receipt with those it sent, ` +
    `and of ${bytes}; as4-once evidence gives it all of that.`
  );
}

function ofOpen(record: LedgerRecord): Verdict {
  if (record.cleared === true)
    return { level: 'fine', text: 'Released by an operator: the next copy is delivered once, marked as a redelivery.' };
  if (record.firstUncertain !== undefined) {
    return {
      level: 'look',
      text:
        `No certain outcome: ${whyUncertain(record)}. ` +
        'The rule decides about the next copy (uncertain: auto, redeliver or hold).',
    };
  }
  const last = record.attempts.at(-1);
  if (last?.reason?.startsWith(SAME_CONTENT) === true) {
    return {
      level: 'look',
      text: `Not delivered: ${last.reason}. Look at that message first; the next copy of this one is judged by what became of it.${copies(record)}`,
    };
  }
  const tries =
    record.attempts.length === 1 ? 'The attempt was rejected' : `${record.attempts.length} attempts were rejected`;
  const burnt =
    last?.reason?.includes('burnt') === true
      ? ' The access point calls it a repetition of what it had rejected: it remembers ids of failures.'
      : '';
  return {
    level: record.copies >= STORM ? 'look' : 'fine',
    text: `${tries} (last: ${last?.reason ?? 'no reason'}); the next copy is delivered again.${burnt}${copies(record)}`,
  };
}

function ofClaimed(record: LedgerRecord, now: number): Verdict {
  const began = record.attempts.at(-1)?.began ?? record.born;
  const lapsed = (record.leaseUntil ?? 0) <= now;
  if (!lapsed)
    return {
      level: 'fine',
      text:
        `In work for ${span(now - began)} at ${record.owner?.node ?? 'a node'}; ` +
        `copies wait for its answer.${copies(record)}`,
    };
  return {
    level: 'look',
    text:
      `${record.owner?.node ?? 'The node'} has not renewed its claim since ${iso(record.leaseUntil ?? 0)}: ` +
      'it stands still or is gone. The next copy is judged as after an uncertain attempt.',
  };
}

function whyUncertain(record: LedgerRecord): string {
  const attempt = record.attempts.findLast(({ outcome }) => outcome === 'uncertain') ?? record.attempts.at(-1);
  if (attempt === undefined) return 'it was imported without a Receipt, and the policy is known: hold';
  const { began, node, reason = 'unknown' } = attempt;
  return `the attempt of ${iso(began)} at ${node} ended without a certain outcome (${reason})`;
}

const copies = ({ copies: count, lastSeen }: LedgerRecord): string =>
  count === 0 ? '' : ` ${count} ${count === 1 ? 'copy' : 'copies'} so far, last ${iso(lastSeen)}.`;

/** Whole minutes or seconds, for a person. */
function span(ms: number): string {
  const unit = ms >= MINUTE ? MINUTE : 1_000;
  const rounded = Math.max(unit, Math.round(ms / unit) * unit);
  return rounded >= 2 * 60 * MINUTE
    ? formatDuration(Math.round(rounded / (60 * MINUTE)) * 60 * MINUTE)
    : rounded >= MINUTE
      ? `${rounded / MINUTE} min`
      : `${rounded / 1_000} s`;
}

const iso = (ms: number): string => new Date(ms).toISOString();
