import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { As4OnceError } from '../errors.js';

/** A stored record with its Receipt in base64 fits; whatever is longer is no line of ours. */
const LONGEST = 8 * 1024 * 1024;

export interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

/**
 * The lines of a file (gzip where its name ends in .gz) that are not empty.
 * @throws As4OnceError USAGE where it cannot be read.
 */
export async function* linesOf(file: string): AsyncGenerator<NumberedLine> {
  const source = createReadStream(file, { highWaterMark: 1 << 18 });
  const unzipped = file.endsWith('.gz') ? source.pipe(createGunzip()) : source;
  if (unzipped !== source) source.once('error', (error) => unzipped.destroy(error));
  let rest = Buffer.alloc(0);
  let number = 0;
  const line = (bytes: Buffer): NumberedLine | undefined => {
    number += 1;
    const text = bytes.toString('utf8').trim();
    return text === '' ? undefined : { number, text };
  };
  try {
    for await (const chunk of unzipped as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, from)) {
        const found = line(bytes.subarray(from, at));
        if (found !== undefined) yield found;
        from = at + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
      if (rest.length > LONGEST)
        throw new As4OnceError('USAGE', `${file}: line ${number + 1} is longer than ${LONGEST} bytes`);
    }
  } catch (error) {
    if (error instanceof As4OnceError) throw error;
    throw new As4OnceError(
      'USAGE',
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
    );
  } finally {
    source.destroy();
  }
  const last = line(rest);
  if (last !== undefined) yield last;
}
