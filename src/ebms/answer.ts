import type { Limits } from '../limits.js';
import { comparableId, parseContentType } from '../mime/content-type.js';
import { firstBoundary } from '../mime/first-boundary.js';
import { MimeScanner } from '../mime/scanner.js';
import { readEnvelope } from './envelope.js';
import type { Envelope } from './units.js';

/**
 * Reads what an access point answered: SOAP bare or as the root of a multipart package, whatever its Content-Type says
 * or leaves out. Undefined for an empty body, HTML, JSON and all that is no envelope of well-formed message units;
 * never throws. Less strict than the reading of requests: nothing is keyed from an answer.
 */
export function readAnswer(contentType: string | undefined, body: Uint8Array, limits: Limits): Envelope | undefined {
  try {
    const root = answerRoot(contentType, body, limits);
    // A Receipt may copy the UserMessage with its Ids.
    return root === undefined ? undefined : readEnvelope(root, limits, { uniqueIds: false });
  } catch {
    return undefined;
  }
}

/** The bytes of the envelope in an answer: the body itself, or the root of a package. Throws where a package is broken. */
export function answerRoot(contentType: string | undefined, body: Uint8Array, limits: Limits): Uint8Array | undefined {
  const media = contentType === undefined ? undefined : parseContentType(contentType);
  const told = media?.type.startsWith('multipart/') === true ? media.parameters.get('boundary') : undefined;
  const boundary = told ?? firstBoundary(body);
  return boundary === undefined ? body : rootPart(body, boundary, media?.parameters.get('start'), limits);
}

/** The part that `start` names, or the first one. */
function rootPart(
  body: Uint8Array, boundary: string, start: string | undefined, limits: Limits,
): Uint8Array | undefined {
  const parts: { id: string | undefined; pieces: Uint8Array[] }[] = [];
  const scanner = new MimeScanner({
    head: (head) => parts.push({ id: head.contentId, pieces: [] }),
    data: (bytes) => parts.at(-1)!.pieces.push(bytes),
    end: () => undefined,
  }, { boundary }, limits);
  scanner.push(body);
  scanner.end();
  const named = start === undefined ? undefined
    : parts.find((p) => p.id !== undefined && comparableId(p.id) === comparableId(start));
  const root = named ?? parts[0];
  return root === undefined ? undefined : Buffer.concat(root.pieces);
}
