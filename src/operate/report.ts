import type { AnswerName } from '../events.js';
import { add } from './read-tallies.js';
import { DOOR, type Counts, type Tally, type TallyName } from './tally.js';

/** How messages were answered, in the order of the report's columns. Each arrived message is in exactly one of them. */
export const ANSWERS = [
  'first',
  'redelivery',
  'late',
  'resend',
  'replay',
  'waited',
  'busy',
  'held',
  'refused',
  'mismatch',
  'passed',
  'forwarded',
  'bypassed',
  'unavailable',
  'failed',
] as const satisfies readonly (AnswerName | 'bypassed')[];

/** One line of the report. arrived = the sum of the answers + unanswered. */
export interface Line {
  /** Epoch ms; absent where the line sums up several hours. */
  readonly hour?: number;
  /** Name of a configured partner, `''` for everybody else, undefined for all together. */
  readonly partner?: string;
  readonly arrived: number;
  /** Arrived at the door and not answered: still in work, or the process ended under it. */
  readonly unanswered: number;
  readonly answers: Readonly<Record<(typeof ANSWERS)[number], number>>;
}

/** One line for each hour and partner, and one for each hour altogether; for audits. */
export function hourLines(tallies: readonly Tally[]): readonly Line[] {
  const hours = [...new Set(tallies.map(({ hour }) => hour))];
  return hours.flatMap((hour) => {
    const of = tallies.filter((tally) => tally.hour === hour);
    return [{ hour, ...total(of) }, ...partners(of).map((partner) => ({ hour, ...ofPartner(of, partner) }))];
  });
}

/** One line for each partner, and one altogether. */
export function summaryLines(tallies: readonly Tally[]): readonly Line[] {
  return [total(tallies), ...partners(tallies).map((partner) => ofPartner(tallies, partner))];
}

/** What `mode: eliminate` would have done with what came under `mode: shadow`. */
export interface ShadowLine {
  readonly partner?: string;
  readonly messages: number;
  /** Delivered for the first time; so it would have been. */
  readonly first: number;
  /** Would have been answered with the stored reply, at once or after waiting. */
  readonly duplicates: number;
  readonly mismatches: number;
  /** The same signed content under a new id. */
  readonly resends: number;
  readonly late: number;
  /** Deliveries after an attempt without a certain outcome, and copies that would have waited for an operator. */
  readonly uncertain: number;
  readonly refusals: number;
  /** The ledger was out of reach. */
  readonly unknown: number;
}

export function shadowLines(tallies: readonly Tally[]): readonly ShadowLine[] {
  const lines = partners(tallies).map((partner) => ({ partner, ...shadow(sum(tallies, partner)) }));
  return [shadow(sum(tallies)), ...lines].filter(({ messages }, i) => i === 0 || messages > 0);
}

const COLUMNS = ['hour', 'partner', 'arrived', ...ANSWERS, 'unanswered'] as const;

/** RFC 4180; the partner of a line for all together is `*`. What a spreadsheet would take for a formula is disarmed. */
export function csv(lines: readonly Line[]): string {
  const rows = lines.map(({ hour, partner, arrived, unanswered, answers }) =>
    [
      hour === undefined ? '' : new Date(hour).toISOString(),
      quoted(partner ?? '*'),
      arrived,
      ...ANSWERS.map((name) => answers[name]),
      unanswered,
    ].join(','),
  );
  return `${[COLUMNS.join(','), ...rows].join('\r\n')}\r\n`;
}

function quoted(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function total(tallies: readonly Tally[]): Line {
  const counts = sum(tallies);
  const answers = answersOf(counts);
  const answered = ANSWERS.reduce((all, name) => all + answers[name], 0);
  // what arrived in the hour before the first tally of a new release, say, may have been counted only as answered
  const arrived = Math.max(sum(tallies, DOOR).arrived ?? 0, answered);
  return { arrived, unanswered: arrived - answered, answers };
}

function ofPartner(tallies: readonly Tally[], partner: string): Line {
  const answers = answersOf(sum(tallies, partner));
  return { partner, arrived: ANSWERS.reduce((all, name) => all + answers[name], 0), unanswered: 0, answers };
}

function answersOf(counts: Counts): Line['answers'] {
  return Object.fromEntries(ANSWERS.map((name) => [name, counts[name] ?? 0])) as Record<
    (typeof ANSWERS)[number],
    number
  >;
}

function sum(tallies: readonly Tally[], partner?: string): Counts {
  const all: Partial<Record<TallyName, number>> = {};
  for (const tally of tallies) if (partner === undefined || tally.partner === partner) add(all, tally.counts);
  return all;
}

function partners(tallies: readonly Tally[]): readonly string[] {
  return [...new Set(tallies.map(({ partner }) => partner))].filter((partner) => partner !== DOOR).toSorted();
}

function shadow(counts: Counts): Omit<ShadowLine, 'partner'> {
  const of = (...names: string[]): number => names.reduce((all, name) => all + (counts[`shadow.${name}`] ?? 0), 0);
  return {
    messages: of('messages'),
    first: of('first'),
    duplicates: of('settled', 'inFlight', 'known'),
    mismatches: of('mismatch'),
    resends: of('resend'),
    late: of('late'),
    uncertain: of('redelivery', 'held'),
    refusals: of('refuse'),
    unknown: of('unknown'),
  };
}
