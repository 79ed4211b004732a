import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { Garbled, ResponseReader } from './response.js';
import type { HttpResponse } from './response.js';

/** What goes wrong on purpose, or is merely unusual, between the client and the receiver. */
export interface Dials {
  /** Content-Length, or chunked coding with this many bytes a chunk. */
  readonly chunked?: number;
  /** Sends `Expect: 100-continue` and waits for the 100, at most a second (RFC 9110, 10.1.1). */
  readonly expect?: boolean;
  /** Codes the body with gzip. */
  readonly contentEncoding?: 'gzip';
  /** Ends the connection after this many body bytes, with FIN or a reset, at once or after a while of silence. */
  readonly cutAfter?: { readonly bytes: number; readonly how: 'end' | 'reset'; readonly afterMs?: number };
  /** Writes the body in pieces with a pause between, milliseconds. */
  readonly pace?: { readonly bytes: number; readonly everyMs: number };
  /** Closes the connection this long after the last byte was written, without reading the answer. */
  readonly leaveAfterMs?: number;
  /** Header fields added as given. */
  readonly headers?: readonly (readonly [string, string])[];
  /** The framing header lines as given, each with its CRLF, in place of Content-Length or Transfer-Encoding. */
  readonly rawFraming?: string;
  readonly method?: string;
}

export interface SendOptions {
  readonly contentType: string | undefined;
  readonly body: Buffer;
  readonly dials?: Dials;
  /** From the last byte written to the last byte read, milliseconds. */
  readonly answerMs: number;
  /** Bytes of an answer that are kept at most. */
  readonly answerMax?: number;
  /** PEM of the authorities trusted for TLS; the system's own without. */
  readonly ca?: string;
  /** Aborts the exchange. */
  readonly signal?: AbortSignal;
}

/** What came back: a response, or the reason why there is none. */
export type WireAnswer =
  | { readonly kind: 'response'; readonly response: HttpResponse; readonly ms: number }
  | {
      readonly kind: 'none';
      readonly why: 'refused' | 'reset' | 'closed' | 'timeout' | 'garbled' | 'left' | 'cut';
      readonly detail: string;
      readonly ms: number;
    };

const EXPECT_PATIENCE_MS = 1_000;

/**
 * Sends one request on a connection of its own and reads the answer. Never rejects for what a peer or network can do.
 */
export async function sendRaw(url: URL, options: SendOptions): Promise<WireAnswer> {
  const started = performance.now();
  const ms = (): number => Math.round(performance.now() - started);
  let socket: Socket;
  try {
    socket = await open(url, options);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return {
      kind: 'none',
      why: code === 'ETIMEDOUT' ? 'timeout' : 'refused',
      detail: `no connection to ${url.host}: ${code}`,
      ms: ms(),
    };
  }
  const reader = new ResponseReader(options.answerMax ?? 16 * 1024 * 1024);
  let interimCame = (): void => undefined;
  const interim = new Promise<void>((resolve) => {
    interimCame = resolve;
  });
  return await new Promise<WireAnswer>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => none('timeout', 'the run was ended');
    const finish = (answer: WireAnswer): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      interimCame();
      socket.removeAllListeners();
      socket.on('error', () => undefined);
      // resetAndDestroy() ends the stream first, so that a FIN goes before the RST; with the mark alone only the RST
      // goes
      if (answer.kind === 'none' && answer.why === 'cut' && options.dials?.cutAfter?.how === 'reset')
        Object.assign(socket, { resetAndClosing: true });
      socket.destroy();
      resolve(answer);
    };
    const none = (why: Extract<WireAnswer, { kind: 'none' }>['why'], detail: string): void =>
      finish({ kind: 'none', why, detail, ms: ms() });
    const deadline = (): void => {
      timer ??= setTimeout(
        () => none('timeout', `no complete answer within ${options.answerMs} ms (${reader.size} bytes came)`),
        options.answerMs,
      );
    };
    // who leaves without reading must not see an answer that happens to be quick
    if (options.dials?.leaveAfterMs === undefined)
      socket.on('data', (chunk: Buffer) => {
        try {
          const response = reader.push(chunk);
          if (reader.continued || response !== undefined) interimCame();
          if (response !== undefined) finish({ kind: 'response', response, ms: ms() });
        } catch (error) {
          none('garbled', error instanceof Garbled ? error.message : String(error));
        }
      });
    socket.on('end', () => {
      const response = reader.end();
      if (response !== undefined) finish({ kind: 'response', response, ms: ms() });
      else
        none(
          'closed',
          reader.size === 0
            ? 'the connection was closed without an answer'
            : 'the connection was closed within the answer',
        );
    });
    socket.on('error', (error: NodeJS.ErrnoException) => none('reset', error.code ?? error.message));
    socket.on('close', () => none('closed', 'the connection was closed'));
    options.signal?.addEventListener('abort', onAbort, { once: true });
    write(socket, url, options, interim).then(
      (outcome) => {
        const cut = options.dials?.cutAfter;
        if (outcome === 'cut')
          setTimeout(() => none('cut', `ended by the suite after ${cut?.bytes} body bytes`), cut?.afterMs ?? 0);
        else if (options.dials?.leaveAfterMs !== undefined)
          setTimeout(() => none('left', 'closed by the suite without reading'), options.dials.leaveAfterMs);
        else deadline();
      },
      () => deadline(),
    );
  });
}

async function open(url: URL, options: SendOptions): Promise<Socket> {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port === '' ? (secure ? 443 : 80) : url.port);
  const socket = secure
    ? connectTls({ host, port, servername: host, ...(options.ca === undefined ? {} : { ca: options.ca }) })
    : connectTcp({ host, port });
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(
      () => {
        socket.destroy();
        reject(Object.assign(new Error('connect timeout'), { code: 'ETIMEDOUT' }));
      },
      Math.min(options.answerMs, 10_000),
    );
    const settle = (act: () => void): void => {
      clearTimeout(limit);
      act();
    };
    socket.once(secure ? 'secureConnect' : 'connect', () => settle(resolve));
    socket.once('error', (error) => settle(() => reject(error)));
  });
  return socket;
}

async function write(socket: Socket, url: URL, options: SendOptions, interim: Promise<void>): Promise<'done' | 'cut'> {
  const dials = options.dials ?? {};
  const body = dials.contentEncoding === 'gzip' ? gzipSync(options.body) : options.body;
  const framing =
    dials.rawFraming ??
    (dials.chunked === undefined ? `Content-Length: ${body.length}\r\n` : 'Transfer-Encoding: chunked\r\n');
  const head = [
    `${dials.method ?? 'POST'} ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`,
    options.contentType === undefined ? '' : `Content-Type: ${options.contentType}\r\n`,
    framing,
    dials.contentEncoding === undefined ? '' : `Content-Encoding: ${dials.contentEncoding}\r\n`,
    dials.expect === true ? 'Expect: 100-continue\r\n' : '',
    'User-Agent: as4-once-conformance\r\n',
    ...(dials.headers ?? []).map(([name, value]) => `${name}: ${value}\r\n`),
    '\r\n',
  ].join('');
  await push(socket, Buffer.from(head, 'latin1'));
  if (dials.expect === true) await Promise.race([interim, pause(EXPECT_PATIENCE_MS)]);
  const limit = dials.cutAfter?.bytes ?? body.length;
  const step = dials.pace?.bytes ?? dials.chunked ?? 256 * 1024;
  for (let at = 0; at < limit; at += step) {
    const piece = body.subarray(at, Math.min(at + step, limit));
    await push(socket, dials.chunked === undefined ? piece : chunked(piece, dials.chunked));
    if (dials.pace !== undefined && at + step < limit) await pause(dials.pace.everyMs);
  }
  if (dials.cutAfter !== undefined) return 'cut';
  if (dials.chunked !== undefined) await push(socket, Buffer.from('0\r\n\r\n', 'latin1'));
  return 'done';
}

function chunked(piece: Buffer, size: number): Buffer {
  const out: Buffer[] = [];
  for (let at = 0; at < piece.length; at += size) {
    const part = piece.subarray(at, at + size);
    out.push(Buffer.from(`${part.length.toString(16)}\r\n`, 'latin1'), part, Buffer.from('\r\n', 'latin1'));
  }
  return Buffer.concat(out);
}

function push(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) reject(new Error('the connection is gone'));
    else socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
