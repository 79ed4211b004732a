/** A stretch of a file: `start` included, `end` not. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Shares a file of `size` bytes out among its interchanges: each has its own bytes and what follows them up to the next
 * (line breaks); what stands before the first (a byte order mark) belongs to the file and is in none.
 */
export function shares(interchanges: readonly Range[], size: number): Range[] {
  return interchanges.map(({ start }, index) => ({ start, end: interchanges[index + 1]?.start ?? size }));
}

/** What is left of a file when the interchanges that `drop` names are cut out: joined, in file order, byte exact. */
export function remainder(interchanges: readonly Range[], size: number, drop: (index: number) => boolean): Range[] {
  const kept: Range[] = [{ start: 0, end: interchanges[0]?.start ?? size }];
  shares(interchanges, size).forEach((share, index) => {
    if (drop(index)) return;
    const last = kept.at(-1);
    if (last !== undefined && last.end === share.start) kept[kept.length - 1] = { start: last.start, end: share.end };
    else kept.push(share);
  });
  return kept.filter(({ start, end }) => end > start);
}

/** The bytes of the given ranges (ascending, apart) out of a stream, in order, as views on its chunks. */
export async function* pick(stream: AsyncIterable<Uint8Array>, ranges: readonly Range[]): AsyncIterable<Uint8Array> {
  let base = 0;
  let next = 0;
  for await (const chunk of stream) {
    for (; next < ranges.length; next += 1) {
      const { start, end } = ranges[next] as Range;
      if (start >= base + chunk.length) break;
      yield chunk.subarray(Math.max(0, start - base), Math.min(chunk.length, end - base));
      if (end > base + chunk.length) break;
    }
    base += chunk.length;
    if (next >= ranges.length) return;
  }
}
