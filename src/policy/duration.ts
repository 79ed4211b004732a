import { As4OnceError } from '../errors.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const YEAR = 365 * DAY;

/** `m` is a minute; a month is only written in ISO form (`P1M`), because a bare `M` could mean either. */
const UNITS: Readonly<Record<string, number>> = {
  ms: 1, s: SECOND, m: MINUTE, min: MINUTE, h: HOUR, d: DAY, w: WEEK, y: YEAR,
};

const SIMPLE = /^(\d{1,15})(?:\.(\d{1,6}))? ?([a-z]+)$/;
/** ISO 8601 durations with whole numbers, a fraction only in the seconds. A year counts 365 days, a month 30. */
const ISO = new RegExp(
  String.raw`^P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,9})D)?`
  + String.raw`(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12})(?:\.(\d{1,6}))?S)?)?$`,
);

/** What is accepted, for messages about what is not. */
export const DURATION_FORMS = '90d, 1y, 12h, 10m, 20s, 500ms, P90D or PT10M';

/** The longest duration that is taken: a hundred years, ms. A longer one is a typing error or an overflow. */
export const LONGEST = 100 * YEAR;

/**
 * Reads a duration, in ms. Throws CONFIG_INVALID for anything else than the forms above: a bare number (only `0` needs
 * no unit), a negative one, upper-case `M` outside of ISO form.
 */
export function parseDuration(text: string): number {
  const ms = simple(text.trim()) ?? iso(text.trim());
  if (ms === undefined) {
    const hint = /^\d+$/.test(text.trim()) ? ' (a number needs a unit)' : '';
    throw new As4OnceError('CONFIG_INVALID', `"${text}" is not a duration${hint}; write it as ${DURATION_FORMS}`);
  }
  if (ms > LONGEST) throw new As4OnceError('CONFIG_INVALID', `"${text}" is longer than a hundred years`);
  return ms;
}

/** The shortest exact form, for people: `90d`, `10m`, `1500ms`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0';
  for (const unit of ['y', 'd', 'h', 'm', 's'] as const) {
    const size = UNITS[unit] ?? 1;
    if (ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

function simple(text: string): number | undefined {
  if (text === '0') return 0;
  const match = SIMPLE.exec(text);
  const unit = match?.[3] === undefined ? undefined : Object.hasOwn(UNITS, match[3]) ? UNITS[match[3]] : undefined;
  if (match === null || unit === undefined) return undefined;
  return Math.round(Number(`${match[1]}.${match[2] ?? '0'}`) * unit);
}

function iso(text: string): number | undefined {
  const match = ISO.exec(text);
  if (match === null || !/\d/.test(text) || text.endsWith('T')) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = match.slice(1, 8).map((part) => Number(part ?? 0));
  const fraction = Number(`0.${match[8] ?? '0'}`);
  return Math.round(
    (years ?? 0) * YEAR + (months ?? 0) * 30 * DAY + (weeks ?? 0) * WEEK + (days ?? 0) * DAY
    + (hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE + ((seconds ?? 0) + fraction) * SECOND,
  );
}
