import { connect } from 'node:net';

/** A reply of Redis: text, a number, nothing, or a list of those. */
export type RedisReply = string | number | null | readonly RedisReply[];

/**
 * One command on a connection of its own, spoken without any client library, so that a test can look at a server
 * independently of the client under test. Rejects with an Error reply, or when the server does not answer in time.
 */
export function redisCommand(
  port: number, args: readonly (string | number)[],
  options: { readonly host?: string; readonly timeoutMs?: number; readonly auth?: readonly string[] } = {},
): Promise<RedisReply> {
  const { host = '127.0.0.1', timeoutMs = 2_000, auth } = options;
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    const end = (done: () => void): void => {
      socket.destroy();
      done();
    };
    socket.setTimeout(timeoutMs, () => end(() => reject(new Error(`redis on port ${port} does not answer`))));
    socket.once('error', (error) => end(() => reject(error)));
    socket.once('close', () => reject(new Error(`redis on port ${port} closed the connection`)));
    socket.once('connect', () => {
      if (auth !== undefined) socket.write(encode(['AUTH', ...auth]));
      socket.write(encode(args));
    });
    let received = Buffer.alloc(0);
    let toSkip = auth === undefined ? 0 : 1;
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (;;) {
        const read = decode(received, 0);
        if (read === undefined) return;
        received = received.subarray(read.next);
        if (read.value instanceof Error) return end(() => reject(read.value));
        if (toSkip === 0) return end(() => resolve(read.value as RedisReply));
        toSkip -= 1;
      }
    });
  });
}

function encode(args: readonly (string | number)[]): string {
  return `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(String(arg))}\r\n${arg}\r\n`).join('')}`;
}

interface Decoded {
  readonly value: RedisReply | Error;
  readonly next: number;
}

/** RESP2, or undefined while the reply is not complete. */
function decode(bytes: Buffer, at: number): Decoded | undefined {
  const lineEnd = bytes.indexOf('\r\n', at);
  if (lineEnd < 0) return undefined;
  const kind = String.fromCharCode(bytes[at] ?? 0);
  const line = bytes.toString('utf8', at + 1, lineEnd);
  const next = lineEnd + 2;
  if (kind === '+') return { value: line, next };
  if (kind === '-') return { value: new Error(line), next };
  if (kind === ':') return { value: Number(line), next };
  const length = Number(line);
  if (length < 0) return { value: null, next };
  if (kind === '$') {
    if (bytes.length < next + length + 2) return undefined;
    return { value: bytes.toString('utf8', next, next + length), next: next + length + 2 };
  }
  const items: RedisReply[] = [];
  let cursor = next;
  for (let i = 0; i < length; i += 1) {
    const item = decode(bytes, cursor);
    if (item === undefined) return undefined;
    items.push(item.value instanceof Error ? item.value.message : item.value);
    cursor = item.next;
  }
  return { value: items, next: cursor };
}
