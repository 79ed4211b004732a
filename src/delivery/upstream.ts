import type { Readable } from 'node:stream';
import { type buildConnector, Pool } from 'undici';
import type { Clock } from '../clock.js';
import { readAnswer } from '../ebms/answer.js';
import { ERRORS, type ErrorCode } from '../errors.js';
import { plain, type Exchange, type HeaderList, type Reply } from '../exchange.js';
import type { Limits, Times } from '../limits.js';
import { storeReply } from '../receipt/stored-reply.js';
import type { AccessPoint } from './access-points.js';
import { call, describe, isOurs, type Called, type CallRequest } from './call.js';
import { bare, connector, type UpstreamTls } from './upstream-connection.js';
import { replyHeaders, requestHeaders, type RequestHeaders } from './headers.js';
import { idempotencyField } from './idempotency-key.js';
import { judge, judgeByStatus, type Sent, type UpstreamAnswer, type Verdict } from './outcome.js';
import type { Attempted, AttemptResult, StoredBody, Upstream } from './port.js';
import { readReply } from './read-reply.js';
import { targetBelow, type Place } from './target.js';

export interface UpstreamOptions {
  /** Where the access point listens: http or https, with its path. */
  readonly url: string;
  readonly accessPoint: AccessPoint;
  readonly limits: Limits;
  readonly times: Pick<Times, 'upstreamOutage' | 'patience' | 'retryAfter' | 'retryAfterHeld'>;
  readonly clock: Clock;
  /** Where our route stands, and whether the URL is the one address messages go to (target.ts). */
  readonly place?: Place;
  /** Hand the sender's Host on instead of the upstream's own. */
  readonly preserveHost?: boolean;
  readonly tls?: UpstreamTls;
  /** Connections at once; more requests wait for a free one, unsent. */
  readonly connections?: number;
}

/** One connection attempt may take this long, ms; the next one follows within `upstreamOutage`. */
const CONNECT = 5_000;
/**
 * How long an idle connection is used again, ms. Short on purpose: a server that closes it at the very moment we write
 * makes an attempt uncertain that was none.
 */
const KEEP_ALIVE = 1_000;
const CONNECTIONS = 128;
/** Steps in which a refused connection is tried again, ms. */
const FIRST_STEP = 100;
const LONGEST_STEP = 1_000;

/** The answer as judged, and the reply as it would go on unchanged. */
interface Heard {
  readonly what: UpstreamAnswer;
  readonly headers: HeaderList;
  readonly body: Reply['body'];
}

type Unsent = Omit<CallRequest, 'body'>;
type More = Pick<RequestHeaders, 'mark' | 'firstId' | 'idempotency'> & Pick<CallRequest, 'signal'>;

/** Somebody else's access point, over HTTP/1.1: one request a connection at a time, nothing retried once sent. */
export function createUpstream(options: UpstreamOptions): Upstream {
  return new HttpUpstream(options);
}

class HttpUpstream implements Upstream {
  readonly #options: UpstreamOptions;
  readonly #url: URL;
  readonly #pool: Pool;
  readonly #connect: buildConnector.connector;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
    const timeout = Math.max(1, Math.min(CONNECT, options.times.upstreamOutage));
    this.#connect = connector(this.#url, options.tls, timeout);
    this.#pool = new Pool(this.#url.origin, {
      connect: this.#connect,
      connections: options.connections ?? CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      headersTimeout: options.times.patience,
      bodyTimeout: options.times.patience,
    });
  }

  async attempt(attempted: Attempted): Promise<AttemptResult> {
    const { exchange, message, body, mark, firstId, signal, record } = attempted;
    const { accessPoint } = this.#options;
    // An access point has its own rules for a repeated MessageId; any other server gets a key it may go by.
    const idempotency = message.protocol === 'as4' || mark === undefined || record === undefined ? undefined : idempotencyField(record);
    const request = this.#request(exchange, body.length, { mark, firstId, idempotency, signal });
    const heard = await this.#hear(await this.#callUntilUp(request, body), signal, message.protocol === 'as4');
    const sent: Sent = {
      messageId: message.reference,
      fingerprint: message.fingerprint,
      before: {
        uncertain: record?.firstUncertain !== undefined || mark === 'redelivery',
        rejected: (record?.rejections ?? 0) > 0,
      },
      rule: attempted.rule,
      accessPoint,
    };
    const verdict = message.protocol === 'as4' ? judge(heard.what, sent) : judgeByStatus(heard.what, attempted.rule.accept, sent);
    // A copy that was claimed by nobody, and whatever shadow mode looks on at, gets the access point's own answer.
    const own = record === undefined || attempted.rule.mode === 'shadow';
    const send = own && heard.what.kind === 'answer' ? 'answer' : verdict.send;
    return result(heard, { ...verdict, send }, attempted, (code) => this.#refusal(code));
  }

  async pass(exchange: Exchange, body?: StoredBody, signal?: AbortSignal): Promise<Reply> {
    const streamed = body === undefined && carriesBody(exchange);
    const request = this.#request(exchange, body?.length ?? (streamed ? exchange.length : undefined), { signal });
    const called =
      body === undefined
        ? await call(this.#pool, { ...request, body: streamed ? exchange.body : undefined })
        : await this.#callUntilUp(request, body);
    if (called.kind === 'head') {
      if (body !== undefined) called.body.once('close', () => void body.dispose());
      return { status: called.status, headers: replyHeaders(called.headers, false), body: called.body };
    }
    if (called.kind === 'refused') return this.#refusal('UPSTREAM_DOWN');
    return this.#refusal(called.kind === 'reset' ? 'UPSTREAM_UNCLEAR' : 'ANSWER_LATE');
  }

  async probe(): Promise<{ reachable: boolean; ms: number; detail?: string }> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    const { hostname, host, protocol, port } = this.#url;
    const failure = await new Promise<unknown>((resolve) => {
      this.#connect({ hostname: bare(hostname), host, protocol, port }, (error, socket) => {
        socket?.destroy();
        resolve(error);
      });
    });
    const ms = clock.monotonic() - began;
    return (failure ?? null) === null ? { reachable: true, ms } : { reachable: false, ms, detail: describe(failure) };
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #request(exchange: Exchange, length: number | undefined, more: More): Unsent {
    const { signal, ...marks } = more;
    const host = this.#options.preserveHost === true ? undefined : this.#url.host;
    return {
      method: exchange.method,
      path: targetBelow(this.#url, exchange.target, this.#placeFor(exchange.method)),
      headers: requestHeaders({ headers: exchange.headers, length, peer: exchange.via ?? exchange.peer, host, ...marks }),
      signal,
    };
  }

  /** Only what carries a message goes to the one address; a GET may ask for anything below it. */
  #placeFor(method: string): Place {
    const { place = {} } = this.#options;
    return method === 'POST' ? place : { ...place, exact: false };
  }

  /** Nothing was sent as long as the connection is refused, so the stored body is tried again until the outage is over. */
  async #callUntilUp(request: Unsent, body: StoredBody): Promise<Called> {
    const { clock, times } = this.#options;
    const until = clock.monotonic() + times.upstreamOutage;
    for (let step = FIRST_STEP; ; step = Math.min(step * 2, LONGEST_STEP)) {
      const called = await call(this.#pool, { ...request, body: body.length === 0 ? undefined : (body.bytes ?? body.stream()) });
      if (called.kind !== 'refused' || !called.again || request.signal?.aborted === true) return called;
      const pause = step * (0.5 + clock.random() / 2);
      if (clock.monotonic() + pause >= until) return called;
      await clock.sleep(pause, request.signal);
    }
  }

  /** Reads the reply to its end or its bound, whatever its status, and reads its signals. */
  async #hear(called: Called, signal: AbortSignal, signals: boolean): Promise<Heard> {
    const nothing = { headers: [], body: new Uint8Array() };
    if (called.kind !== 'head') return { what: { kind: called.kind, detail: called.detail }, ...nothing };
    const { status, headers } = called;
    const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
    try {
      const read = await readReply(headers, called.body, this.#options.limits.maxReply);
      if (read.kind === 'tooLarge') {
        this.#notForEver(called.body);
        const what: UpstreamAnswer = { kind: 'answer', status, contentType, body: read.begin, tooLarge: true };
        return { what, headers: replyHeaders(headers, false), body: read.all };
      }
      const { body } = read;
      const envelope = signals && !read.coded && body.byteLength > 0 ? readAnswer(contentType, body, this.#options.limits) : undefined;
      const what: UpstreamAnswer = { kind: 'answer', status, contentType, body, envelope, tooLarge: false };
      return { what, headers: replyHeaders(headers, read.decoded), body };
    } catch (error) {
      const kind = signal.aborted || isOurs(error) ? 'silent' : 'reset';
      return { what: { kind, detail: describe(error) }, ...nothing };
    }
  }

  /** A reply that is streamed on holds its connection; where nobody comes to read it, patience ends that too. */
  #notForEver(body: Readable): void {
    if (body.closed || body.readableEnded) return;
    const closed = new AbortController();
    body.once('close', () => closed.abort());
    void this.#options.clock.sleep(this.#options.times.patience, closed.signal).then(() => body.destroy());
  }

  /** A plain text body, so that no sender takes it for an ebMS Error. */
  #refusal(code: ErrorCode): Reply {
    const { times, clock } = this.#options;
    const { status } = ERRORS[code];
    const wait = (code === 'HELD' ? times.retryAfterHeld : times.retryAfter) * (0.5 + clock.random());
    const later = status === 503 ? ([['Retry-After', String(Math.max(1, Math.round(wait / 1_000)))]] as const) : [];
    return plain(status, `${code}: try again later.\n`, later);
  }
}

function result(heard: Heard, verdict: Verdict, { rule }: Attempted, refusal: (code: ErrorCode) => Reply): AttemptResult {
  const { what } = heard;
  const { outcome, reason, hold, counts, send } = verdict;
  const common = {
    outcome,
    reason,
    hold,
    counts,
    ...(what.kind === 'answer' ? {} : { detail: what.detail }),
    ...(verdict.alert === undefined ? {} : { alert: verdict.alert }),
  };
  if (send !== 'answer' || what.kind !== 'answer') {
    const code = send === 'answer' ? 'INTERNAL' : send;
    return { ...common, reply: refusal(code), code };
  }
  const late = what.status === 503 && !heard.headers.some(([name]) => name.toLowerCase() === 'retry-after');
  const headers = late ? [...heard.headers, ...refusal('UPSTREAM_DOWN').headers.filter(([name]) => name === 'Retry-After')] : heard.headers;
  const reply: Reply = { status: what.status, headers, body: heard.body };
  if (outcome !== 'accepted') return { ...common, reply };
  const kept = new Set(rule.replyHeaders.map((name) => name.toLowerCase()));
  const stored = storeReply({
    status: what.status,
    contentType: what.contentType ?? '',
    headers: heard.headers.filter(([name]) => kept.has(name.toLowerCase()) && name.toLowerCase() !== 'content-type'),
    body: what.body,
    ...(verdict.receiptId === undefined ? {} : { receiptId: verdict.receiptId }),
    ...(verdict.signerSerial === undefined ? {} : { signerSerial: verdict.signerSerial }),
  });
  return { ...common, reply, stored };
}

/** RFC 9112 6.3: a request has a body where it says how long it is, or that it is chunked. */
function carriesBody({ headers, length }: Exchange): boolean {
  return (length ?? 0) > 0 || headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
}
