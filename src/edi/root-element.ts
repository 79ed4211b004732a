import { As4OnceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import { XmlStream } from './sbdh-stream.js';

export interface RootElement {
  readonly local: string;
  readonly uri: string;
}

const PIECE = 4 * 1024;

/** Name and namespace of a document's root, which say what kind of document it is. Undefined where it breaks off before. */
export function rootElement(bytes: Uint8Array): RootElement | undefined {
  const opened: RootElement[] = [];
  const open = (element: RootElement): false => {
    opened.push(element);
    return false;
  };
  const xml = new XmlStream({ open, closed: () => undefined, left: () => undefined }, LIMITS.depth);
  try {
    for (let at = 0; opened.length === 0 && at < bytes.length; at += PIECE) xml.push(bytes.subarray(at, at + PIECE));
    if (opened.length === 0) xml.end();
  } catch (error) {
    // what is broken behind the root is for its reader to say
    if (!(error instanceof As4OnceError)) throw error;
  }
  return opened[0];
}
