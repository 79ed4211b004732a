import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/**
 * RFC 9110 15.2: a client bears every 1xx that it did not ask for. undici ends the connection at a 100, and the reply that
 * follows is lost, with an outcome that nobody knows. So interim replies are taken out before undici reads them, where
 * they can stand only: at the beginning of what comes behind the head of a request. A 101 stays; it would not be HTTP any more.
 */
export function bearInterim(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer | undefined;
  expecting.set(socket, () => (held = Buffer.alloc(0)));
  socket.read = (size?: number): Buffer | null => {
    const bytes = read(size);
    if (held === undefined || bytes === null) return bytes;
    const rest = withoutInterim(Buffer.concat([held, bytes]));
    const more = rest.length < LONGEST && mayBeInterim(rest);
    held = more ? rest : undefined;
    return more ? null : rest;
  };
}

/** Sockets of ours, and how each is told that a request goes out on it. */
const expecting = new WeakMap<object, () => void>();
subscribe('undici:client:sendHeaders', (message) => expecting.get((message as { readonly socket: object }).socket)?.());

/** One interim reply with its fields, bytes. */
const LONGEST = 16 * 1024;
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d/;
const SAME = 'HTTP/1.1 1';
const TOLD = 'HTTP/1.1 100'.length;
const END = '\r\n\r\n';

/** Whether the bytes are the beginning of an interim reply whose end has not come. */
function mayBeInterim(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, TOLD);
  return text.length < TOLD ? text.startsWith(SAME) || SAME.startsWith(text) : INTERIM.test(text);
}

function withoutInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (rest.length >= TOLD && mayBeInterim(rest)) {
    const end = rest.indexOf(END);
    if (end < 0) break;
    rest = rest.subarray(end + END.length);
  }
  return rest;
}
