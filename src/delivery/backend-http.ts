import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { Clock } from '../clock.js';
import type { Backend, Handed, Handover } from '../endpoint/backend.js';
import { mimeTypeOf } from '../endpoint/handover.js';
import { call } from './call.js';
import { percentEncode } from './headers.js';
import { connector, type UpstreamTls } from './upstream-connection.js';

export interface HttpBackendOptions {
  readonly url: string;
  /** Sent as Authorization: Bearer. */
  readonly token?: string;
  /** How long an answer is awaited, ms; times.patience ends it in any case. */
  readonly timeoutMs?: number;
  readonly tls?: UpstreamTls;
  readonly clock: Clock;
}

/** One connection, TLS included, ms. */
const CONNECT = 10_000;
const CONNECTIONS = 64;
/** Of an answer, for the log: so many characters, and what has come by then, ms behind the head. */
const LONGEST_TEXT = 300;
const LONGEST_WAIT = 2_000;

/**
 * Posts each message to a URL: the payload as the body (several as multipart/mixed), what the header said as fields, and
 * an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) under which a repetition is the same delivery. 2xx
 * accepts, 4xx rejects, anything else may have been taken. The status decides: nothing waits for what follows it.
 */
export function httpBackend({ url, token, timeoutMs, tls, clock }: HttpBackendOptions): Backend {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, {
    connect: connector(new URL(url), tls, CONNECT), connections: CONNECTIONS, pipelining: 0, headersTimeout: 0, bodyTimeout: 0,
  });
  return {
    idempotent: true,
    hand: async (over) => {
      const { type, body, length } = bodyOf(over, clock);
      const sending = new Sending(body);
      const signal = new AbortController();
      const abort = (): void => signal.abort();
      over.signal.addEventListener('abort', abort, { once: true });
      const cancel = timeoutMs === undefined ? () => undefined : clock.after(timeoutMs, abort);
      try {
        const called = await call(pool, {
          method: 'POST', path: `${pathname}${search}`, body: sending.body, signal: signal.signal,
          headers: [
            ...(type === undefined ? [] : [['Content-Type', type] as const]),
            ['Content-Length', String(length)],
            ['Idempotency-Key', over.idempotencyKey],
            ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
            ...fields(over),
          ],
        });
        if (called.kind === 'refused') return { kind: 'away', detail: called.detail };
        if (called.kind !== 'head') return { kind: 'uncertain', detail: called.detail };
        if (called.status < 200 || called.status >= 300) return judge(called.status, await beginning(called.body, clock), over.again);
        const whole = await sending.ended(called.body);
        leave(called.body, clock);
        return whole ? { kind: 'accepted' } : { kind: 'uncertain', detail: `status ${called.status} before the end of the message, which was cut` };
      } finally {
        over.signal.removeEventListener('abort', abort);
        cancel();
      }
    },
    close: async () => await pool.destroy(),
  };
}

/** The message on its way out. Some backends answer before they have read it; who leaves then takes the rest of it along. */
class Sending {
  readonly body: AsyncIterable<Uint8Array> | undefined;
  #over: () => void = () => undefined;
  readonly #sent = new Promise<true>((resolve) => (this.#over = () => resolve(true)));

  constructor(body: AsyncIterable<Uint8Array> | undefined) {
    if (body === undefined) this.#over();
    else this.body = this.#watched(body);
  }

  /** Resolves when all of it was sent, or the whole answer is there; false where the connection ended before. */
  async ended(answer: Readable): Promise<boolean> {
    answer.resume();
    const closed = new Promise<boolean>((resolve) => {
      if (answer.closed) resolve(answer.readableEnded);
      else answer.once('close', () => resolve(answer.readableEnded));
    });
    return await Promise.race([this.#sent, closed]);
  }

  async* #watched(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* body;
    this.#over();
  }
}

/** The rest of an answer that has said all: read for a moment, since some backends take a connection that ends for a fault. */
function leave(answer: Readable, clock: Clock): void {
  if (answer.closed) return;
  answer.once('close', clock.after(LONGEST_WAIT, () => answer.destroy()));
  answer.resume();
}

/**
 * 408, 425 and 429 say that nothing was taken and that the same may be tried again. Under the draft, 409 says that a
 * request with this key is still in work, which it can only be where an earlier attempt was left unanswered.
 */
function judge(status: number, text: string, again: boolean): Handed {
  const detail = `status ${status}${text === '' ? '' : `: ${text}`}`;
  if (status === 408 || status === 425 || status === 429) return { kind: 'away', detail, answered: true };
  if (status === 409 && again) return { kind: 'uncertain', detail };
  return { kind: status >= 400 && status < 500 ? 'rejected' : 'uncertain', detail };
}

/** The header's values are the sender's: percent-encoded UTF-8, like every field that as4-once adds. */
function fields({ metadata: { messageId, conversationId, from, to, service, action, mark, firstId, documents }, facts }: Handover): readonly (readonly [string, string])[] {
  const sbdh = documents?.find(({ kind }) => kind === 'sbdh')?.reference;
  const values = {
    'As4-Message-Id': messageId, 'As4-Conversation-Id': conversationId, 'As4-From': from.ids[0]?.value, 'As4-To': to.ids[0]?.value,
    'As4-Service': service, 'As4-Action': action, 'As4-Original-Sender': facts.c1, 'As4-Final-Recipient': facts.c4,
    'As4-Agreement': facts.agreement, 'As4-Sbdh-Instance': sbdh, 'As4-Once-Copy': mark, 'As4-Once-First': firstId,
  };
  return Object.entries(values).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, percentEncode(value)] as const]));
}

interface Body {
  readonly type: string | undefined;
  readonly length: number;
  readonly body: AsyncIterable<Uint8Array> | undefined;
}

function bodyOf({ payloads }: Handover, clock: Clock): Body {
  const [first, ...others] = payloads;
  if (first === undefined) return { type: undefined, length: 0, body: undefined };
  if (others.length === 0) {
    const { length } = first.body;
    return { type: mimeTypeOf(first), length, body: length === 0 ? undefined : first.body.stream() };
  }
  const boundary = `as4-once-${clock.id()}`;
  const heads = payloads.map((payload) => {
    const id = payload.contentId === undefined ? '' : `Content-ID: <${percentEncode(payload.contentId)}>\r\n`;
    return Buffer.from(`\r\n--${boundary}\r\nContent-Type: ${mimeTypeOf(payload)}\r\n${id}\r\n`);
  });
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  const length = payloads.reduce((sum, { body }, i) => sum + body.length + (heads[i]?.length ?? 0), end.length);
  return { type: `multipart/mixed; boundary="${boundary}"`, length, body: parts() };

  async function* parts(): AsyncGenerator<Uint8Array> {
    for (const [i, { body }] of payloads.entries()) {
      yield heads[i] ?? Buffer.alloc(0);
      yield* body.stream();
    }
    yield end;
  }
}

/** What an answer begins with, as far as it comes soon. */
async function beginning(body: Readable, clock: Clock): Promise<string> {
  let text = '';
  const enough = clock.after(LONGEST_WAIT, () => body.destroy());
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      text += chunk.toString('latin1');
      if (text.length > LONGEST_TEXT) break;
    }
  } catch {
    // the status has decided
  } finally {
    enough();
  }
  return text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim().slice(0, LONGEST_TEXT);
}
