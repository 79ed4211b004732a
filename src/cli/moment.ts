import { As4OnceError } from '../errors.js';
import { parseDuration } from '../policy/duration.js';

/** A time on the command line: `2026-12-01`, `2026-12-01T13:00Z`, or how long ago (`14d`, `36h`). Epoch ms. */
export function momentOf(option: string, text: string, now: number): number {
  const iso = /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? `${text}T00:00:00Z`
    : /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:?\d{2})$/.test(text)
      ? text
      : undefined;
  if (iso !== undefined && !Number.isNaN(Date.parse(iso))) return Date.parse(iso);
  try {
    return now - parseDuration(text);
  } catch {
    throw new As4OnceError(
      'USAGE',
      `${option} ${text} is no time; write 2026-12-01, 2026-12-01T13:00Z, or how long ago (14d)`,
    );
  }
}
