import { readFileSync } from 'node:fs';
import { As4OnceError } from '../errors.js';

/** A file named on the command line. @throws As4OnceError USAGE naming it and why it cannot be read. */
export function readGiven(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new As4OnceError('USAGE', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`, { cause: error });
  }
}
