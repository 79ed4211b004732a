import { As4OnceError } from '../errors.js';

const POWERS: Readonly<Record<string, number>> = { '': 0, k: 1, m: 2, g: 3, t: 4 };
const SIZE = /^(\d{1,12})(?:\.(\d{1,3}))? ?([kmgt]?)(i?)b$/i;

export const SIZE_FORMS = '500 B, 256 KiB, 1 MiB, 10Mb or 8 GiB';

/**
 * Reads a size, in bytes. One meaning for each letter: `K`, `M`, `G` and `T` count in steps of 1,024, with or without
 * the `i` and in either case, so that the P-Mode's `10Mb` is never less than it may have meant. Throws CONFIG_INVALID for
 * anything else; only `0` needs no unit.
 */
export function parseSize(text: string): number {
  const trimmed = text.trim();
  if (trimmed === '0') return 0;
  const match = SIZE.exec(trimmed);
  const power = match === null ? undefined : POWERS[(match[3] ?? '').toLowerCase()];
  if (match === null || power === undefined || (power === 0 && match[4] !== '')) {
    const hint = /^\d+$/.test(trimmed) ? ' (a number needs a unit)' : '';
    throw new As4OnceError('CONFIG_INVALID', `"${text}" is not a size${hint}; write it as ${SIZE_FORMS}`);
  }
  const bytes = Math.round(Number(`${match[1]}.${match[2] ?? '0'}`) * 1_024 ** power);
  if (!Number.isSafeInteger(bytes)) throw new As4OnceError('CONFIG_INVALID', `"${text}" is larger than can be counted`);
  return bytes;
}

/** For people: `128 MiB`, `1.5 GiB`, `255 B`; rounded to one decimal. */
export function formatSize(bytes: number): string {
  for (const [letter, power] of [['T', 4], ['G', 3], ['M', 2], ['K', 1]] as const) {
    const unit = 1_024 ** power;
    if (bytes >= unit) return `${Math.round((bytes / unit) * 10) / 10} ${letter}iB`;
  }
  return `${bytes} B`;
}
