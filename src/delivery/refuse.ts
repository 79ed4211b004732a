import { As4OnceError, ERRORS, type ErrorCode } from '../errors.js';
import { plain, type Reply } from '../exchange.js';
import type { Step } from '../walk.js';

/**
 * Come again: a plain text body that no sender can take for an ebMS Error (phase4 and Holodeck give up for good on
 * an ebMS Error), and a Retry-After that is spread so that a storm of copies does not come back at once.
 */
export function later(step: Step, code: ErrorCode, status: number = ERRORS[code].status): Reply {
  const { clock } = step.walk;
  const { retryAfter, retryAfterHeld } = step.route.times;
  const base = code === 'HELD' ? retryAfterHeld : retryAfter;
  const seconds = Math.max(1, Math.round((base * (0.5 + clock.random())) / 1000));
  step.notes.code = code;
  return plain(status, `${code}: try again later.\n`, [['Retry-After', String(seconds)]]);
}

/** The answer to anything thrown on the way: a code of the table, and a fault of ours is never the sender's. */
export function refused(step: Step, error: unknown): Reply | Promise<Reply> {
  const known = error instanceof As4OnceError ? error : new As4OnceError('INTERNAL', String(error), { cause: error });
  step.notes.code = known.code;
  step.notes.detail = known.detail;
  if (known.code === 'INTERNAL') step.walk.events.emit('fault', { code: 'INTERNAL', detail: stackOf(error) });
  if (known.entry.status === 503) return later(step, known.code);
  const answerIn = 'answerIn' in known ? (known.answerIn as Parameters<Step['route']['refuse']>[1]) : undefined;
  return answerIn === undefined || known.entry.ebms === undefined
    ? refusalInText(known)
    : step.route.refuse(known, answerIn);
}

/** 200 belongs to an ebMS Error, which says the rest; a text with it would be taken for success. */
export function refusalInText({ code, detail, entry }: As4OnceError): Reply {
  return plain(entry.status < 400 ? 422 : entry.status, `${code}: ${detail}\n`);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
