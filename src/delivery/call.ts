import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import type { HeaderList } from '../exchange.js';
import { isCertificateAlert } from './upstream-connection.js';
import { pairs } from './headers.js';

/** One HTTP request to the upstream, to the head of its reply. */
export interface CallRequest {
  readonly method: string;
  /** Origin form: path and query. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Ends the call: before anything was sent it counts as refused, afterwards as silent. */
  readonly signal?: AbortSignal | undefined;
}

export type Called =
  | { readonly kind: 'head'; readonly status: number; readonly headers: HeaderList; readonly body: Readable }
  /** Nothing was sent. `again`: another try may find it up. */
  | { readonly kind: 'refused'; readonly detail: string; readonly again: boolean }
  | { readonly kind: 'reset' | 'silent'; readonly detail: string };

/**
 * Sends one request. undici retries nothing by itself; what matters here, and what its promise API hides, is whether
 * anything was sent: it calls onRequestStart just before it writes to a connection that stands (TLS included).
 */
export function call(pool: Pool, request: CallRequest): Promise<Called> {
  return new Promise((resolve) => {
    const handler = new CallHandler(request.signal, resolve);
    const { method, path, body } = request;
    try {
      pool.dispatch({ method, path, headers: request.headers.flat(), body: bodyOf(body) }, handler);
    } catch (error) {
      handler.onResponseError(undefined, error as Error);
    }
  });
}

/** undici takes any async iterable, its types know streams only. */
function bodyOf(body: CallRequest['body']): Uint8Array | Readable | null {
  if (body === undefined || body instanceof Uint8Array) return body ?? null;
  return body as Readable;
}

class CallHandler implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (called: Called) => void;
  readonly #onAbort = (): void => this.#abort();
  #controller: Dispatcher.DispatchController | undefined;
  #body: Readable | undefined;
  #ended = false;

  constructor(signal: AbortSignal | undefined, resolve: (called: Called) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted === true) this.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici puts a request back in its queue if its connection ends in one of its own ways; sent once is sent once
    const again = this.#controller !== undefined;
    this.#controller = controller;
    if (again) controller.abort(new Error('the connection ended after something was sent'));
    if (this.#signal?.aborted === true) controller.abort(new Error('patience was over before the connection stood'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return; // a 1xx that nobody asked for is no answer
    this.#body = new Readable({
      highWaterMark: 64 * 1024,
      read: () => controller.resume(),
      destroy: (error, callback) => {
        this.#signal?.removeEventListener('abort', this.#onAbort);
        if (!this.#ended) controller.abort(error ?? new Error('the rest of the reply is not wanted'));
        callback(error);
      },
    });
    // an error must not be thrown into the void where nobody has begun to read
    this.#body.on('error', () => undefined);
    const headers = pairs((controller.rawHeaders ?? []) as (string | Buffer)[]);
    this.#resolve({ kind: 'head', status, headers, body: this.#body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#body?.push(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#body?.push(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#ended = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#body !== undefined) this.#body.destroy(error);
    else this.#resolve(this.#failure(error));
  }

  /** undici leaves a call that waits for its connection alone until that stands or fails; its caller is told at once. */
  #abort(): void {
    if (this.#controller === undefined) this.#resolve({ kind: 'refused', detail: 'not connected within patience', again: false });
    else this.#controller.abort(new Error('patience is over'));
  }

  #failure(error: Error): Called {
    const detail = describe(error);
    if (this.#controller === undefined || isCertificateAlert(error)) {
      return { kind: 'refused', detail, again: !NEVER_AGAIN.has(codeOf(error)) };
    }
    return { kind: this.#signal?.aborted === true || isOurs(error) ? 'silent' : 'reset', detail };
  }
}

const OURS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** Our own doing: trying again changes nothing. */
const NEVER_AGAIN = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** It was we who left, by patience or at the end of this process: nothing is known of the access point, least of all that it broke. */
export function isOurs(error: unknown): boolean {
  return OURS.has(codeOf(error));
}

export function describe(error: unknown): string {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === '' || message.includes(code) ? message : `${code}: ${message}`;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
