import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from './front-process.js';

/** A client that writes exactly what it is told, byte for byte. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything that came back so far, latin1. */
  seen(): string;
  write(bytes: string | Uint8Array): void;
  /** Waits until that was seen. */
  sees(what: RegExp): Promise<string>;
  /** Waits until the other side has closed. */
  closed(): Promise<string>;
}

export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let seen = '';
  socket.on('data', (chunk: Buffer) => (seen += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  let gone = false;
  socket.once('close', () => (gone = true));
  await once(socket, 'connect');
  return {
    socket,
    seen: () => seen,
    write: (bytes) => void socket.write(bytes),
    sees: (what) => eventually(() => (what.test(seen) ? seen : undefined), () => `${what}; seen: ${seen}`),
    closed: () => eventually(() => (gone ? seen : undefined), () => `the connection to end; seen: ${seen}`),
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  /** Without transfer coding. */
  readonly body: Buffer;
}

/** Sends recorded wire bytes as they are and reads one answer with a Content-Length. */
export async function replayBytes(port: number, request: Uint8Array): Promise<RawAnswer> {
  const client = await rawClient(port);
  client.write(request);
  const answer = await eventually(() => parse(client.seen()), () => `a whole answer; seen: ${client.seen().slice(0, 2000)}`);
  client.socket.destroy();
  return answer;
}

function parse(seen: string): RawAnswer | undefined {
  const end = seen.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = seen.slice(0, end);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? Number.NaN);
  const body = Buffer.from(seen.slice(end + 4), 'latin1');
  if (body.length < length) return undefined;
  return { status: Number(head.split(' ')[1]), head, body };
}
