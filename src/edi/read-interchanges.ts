import { EdiBroken } from './broken.js';
import type { Interchange } from './interchange.js';
import { InterchangeReader, type ReaderOptions } from './reader.js';

/** Interchanges of one file that are listed; a file with more is refused, since all of them are claimed together. */
export const MOST_INTERCHANGES = 10_000;

export type ReadOptions = Omit<ReaderOptions, 'onInterchange'> & {
  /** Bound on interchanges per file; default MOST_INTERCHANGES. */
  readonly most?: number;
};

/** Everything a file holds, in file order. Throws EdiBroken (code EDI_BROKEN) where it cannot be read to its end. */
export async function readInterchanges(stream: AsyncIterable<Uint8Array>, options: ReadOptions = {}): Promise<Interchange[]> {
  const collected = collect(options);
  for await (const chunk of stream) collected.reader.push(chunk);
  collected.reader.end();
  return collected.found;
}

/** The same for bytes that are at hand. */
export function interchangesOf(bytes: Uint8Array, options: ReadOptions = {}): Interchange[] {
  const collected = collect(options);
  collected.reader.push(bytes);
  collected.reader.end();
  return collected.found;
}

function collect(options: ReadOptions): { reader: InterchangeReader; found: Interchange[] } {
  const { most = MOST_INTERCHANGES, ...others } = options;
  const found: Interchange[] = [];
  const onInterchange = (interchange: Interchange): void => {
    if (found.length >= most) {
      throw new EdiBroken(`more than ${most} interchanges in one file`, { segment: 1, tag: '', offset: interchange.start });
    }
    found.push(interchange);
  };
  return { reader: new InterchangeReader({ ...others, onInterchange }), found };
}
