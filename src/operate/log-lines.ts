import { linesOf } from './lines.js';

/** Beyond this many, the first and the newest tell the same story. */
const MOST = 10_000;

/** The lines of a log that name one of the texts as a value, as they stand there; the newest where there are too many. */
export async function logLinesOf(file: string, texts: readonly string[]): Promise<readonly string[]> {
  const quoted = texts.filter((text) => text !== '').map((text) => JSON.stringify(text));
  const found: string[] = [];
  for await (const { text } of linesOf(file)) {
    if (!quoted.some((value) => text.includes(value))) continue;
    found.push(text);
    if (found.length > MOST) found.shift();
  }
  return found;
}
