import type { Ledger } from '../ledger/port.js';
import { tallyShelf } from '../ledger/shelves.js';
import { HOUR, type Counts, type Stored, type Tally, type TallyName } from './tally.js';

const DAY = 24 * HOUR;

/** The tallies of all processes together, by hour and partner, in that order. Epoch ms; `to` is excluded. */
export async function readTallies(ledger: Pick<Ledger, 'notes'>, from: number, to: number): Promise<readonly Tally[]> {
  const sums = new Map<string, { hour: number; partner: string; counts: Partial<Record<TallyName, number>> }>();
  for (let day = Math.floor(from / DAY) * DAY; day < to; day += DAY) {
    for (const [name, text] of await ledger.notes(tallyShelf(new Date(day).toISOString().slice(0, 10)))) {
      const hour = day + Number(name.slice(0, 2)) * HOUR;
      const stored = parsed(text);
      if (stored === undefined || !(hour >= Math.floor(from / HOUR) * HOUR && hour < to)) continue;
      const { partner, counts } = stored;
      const place = `${hour} ${partner}`;
      const sum = sums.get(place) ?? { hour, partner, counts: {} };
      add(sum.counts, counts);
      sums.set(place, sum);
    }
  }
  return [...sums.values()].sort(
    (a, b) => a.hour - b.hour || (a.partner < b.partner ? -1 : a.partner > b.partner ? 1 : 0),
  );
}

export function add(sum: Partial<Record<TallyName, number>>, more: Counts): void {
  for (const [name, count] of Object.entries(more) as [TallyName, number][]) sum[name] = (sum[name] ?? 0) + count;
}

function parsed(text: string): Stored | undefined {
  try {
    const { partner, counts } = JSON.parse(text) as Partial<Stored>;
    const whole =
      typeof partner === 'string' &&
      typeof counts === 'object' &&
      counts !== null &&
      Object.values(counts).every((count) => Number.isSafeInteger(count));
    return whole ? { partner, counts } : undefined;
  } catch {
    return undefined;
  }
}
