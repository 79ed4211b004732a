import type { IncomingMessage, ServerResponse } from 'node:http';
import { As4OnceError } from '../errors.js';
import { thisProcess } from '../ledger/owner.js';
import type { Ledger } from '../ledger/port.js';
import type { Owner } from '../ledger/record.js';
import { LIMITS } from '../limits.js';
import { runOnce, Uncertain, type OnceCallOptions, type OnceMessage, type OnceResult } from '../once.js';
import { HeldResponse, type HeldAnswer } from './held-response.js';

export interface OnceMiddlewareOptions<R extends IncomingMessage> extends OnceCallOptions {
  /** What the request is: undefined lets it through unrecorded. Called when the body was parsed. */
  readonly message: (request: R) => OnceMessage | undefined;
  /** The answer while the first copy is in progress: 409 (default, as the Idempotency-Key draft says) or 503. */
  readonly inFlight?: 409 | 503;
}

/** What is stored of an answer: [status, Content-Type or null, body in base64]. */
type Stored = readonly [status: number, contentType: string | null, body: string];

/** The application refused the message, so that it was certainly not taken. */
class Rejected extends Error {}

let self: Owner | undefined;

/**
 * `once` for the routes of an Express application, behind its body parser:
 *
 *     app.post('/orders', express.json(), onceMiddleware(ledger, { message: (r) => ({ reference: r.get('Idempotency-Key') }) }), book);
 *
 * The first copy runs the route; what it answers with 2xx is stored before it is sent and given to every later copy,
 * status, Content-Type and body. 4xx: not taken, the next copy runs again. Anything else, or an answer over 1 MiB: nobody
 * knows, the next copy is held (or run again, `uncertain: redeliver`). Other content under the same reference: 422.
 */
export function onceMiddleware<R extends IncomingMessage = IncomingMessage & { readonly body?: unknown }>(
  ledger: Ledger, options: OnceMiddlewareOptions<R>,
): (request: R, response: ServerResponse, next: (error?: unknown) => void) => void {
  return (request, response, next) => {
    const message = options.message(request);
    if (message === undefined) {
      next();
      return;
    }
    void answer(ledger, options, message, response, next);
  };
}

async function answer(
  ledger: Ledger, options: OnceMiddlewareOptions<never>, message: OnceMessage, response: ServerResponse, next: (error?: unknown) => void,
): Promise<void> {
  let held: HeldResponse | undefined;
  const run = async (): Promise<Stored> => {
    held = new HeldResponse(response, LIMITS.maxReply);
    next();
    return stored(await held.answered);
  };
  try {
    const result = await runOnce<Stored>(ledger, message, run, { ...options, owner: (self ??= thisProcess('once')) });
    if (held === undefined) tell(response, result, options.inFlight ?? 409);
    else held.send();
  } catch (error) {
    // the application's own answer goes out as it is, whatever became of the ledger
    if (held !== undefined) held.send();
    else if (error instanceof As4OnceError) problem(response, error.entry.status, error.code);
    else next(error);
  }
}

function stored({ status, contentType, body }: HeldAnswer): Stored {
  if (status >= 400 && status < 500) throw new Rejected(`status ${status}`);
  if (status < 200 || status > 299) throw new Uncertain(`status ${status}`);
  if (body === undefined) throw new Uncertain(`an answer of more than ${LIMITS.maxReply} bytes`);
  return [status, contentType ?? null, body.toString('base64')];
}

function tell(response: ServerResponse, result: OnceResult<Stored>, inFlight: 409 | 503): void {
  switch (result.kind) {
    case 'first':
    case 'replay': {
      const [status, contentType, body] = result.reply;
      response.statusCode = status;
      if (contentType !== null) response.setHeader('Content-Type', contentType);
      response.setHeader('As4-Once-Answer', 'replay');
      response.end(Buffer.from(body, 'base64'));
      return;
    }
    case 'inFlight':
      response.setHeader('Retry-After', '1');
      problem(response, inFlight, 'IN_PROGRESS');
      return;
    case 'mismatch':
      problem(response, 422, 'MISMATCH');
      return;
    case 'held':
      response.setHeader('Retry-After', '60');
      problem(response, 503, 'HELD');
  }
}

function problem(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/problem+json');
  response.end(JSON.stringify({ status, code }));
}
