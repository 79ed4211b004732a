import { once } from 'node:events';
import { validateHeaderName, validateHeaderValue, type ServerResponse } from 'node:http';
import type { Reply } from '../exchange.js';

/** The only writer of answers. A client that has left is nobody's fault: what had to be kept is in the ledger. */
export async function respond(response: ServerResponse, reply: Reply): Promise<void> {
  if (response.destroyed) return;
  const flat = reply.headers.filter(([name, value]) => isField(name, value)).flatMap(([name, value]) => [name, value]);
  if (reply.body instanceof Uint8Array) {
    response.writeHead(reply.status, [...flat, 'Content-Length', String(reply.body.byteLength)]);
    response.end(reply.body);
    return;
  }
  response.writeHead(reply.status, flat);
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  try {
    for await (const chunk of reply.body) {
      if (response.destroyed) break; // leaving the loop ends the upstream's stream too
      if (!response.write(chunk)) await once(response, 'drain', { signal: closed.signal });
    }
    response.end();
  } catch {
    // A cut answer must look cut: the length was not announced, so only the connection can say it.
    response.destroy();
  }
}

/** One field that cannot be written (an old record may hold one) must not cost the sender its whole answer. */
function isField(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
