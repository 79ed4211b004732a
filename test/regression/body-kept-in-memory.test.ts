import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { readBody } from '../../src/http/body.js';

// Each chunk of a body was awaited in a race with one promise that stood for the sender's slowness. A promise that does
// not settle remembers every race it is in, and a race its result: a body of 100 MB lay in memory as a whole until it had
// ended, beside the spool that was there so that it need not (measured: 257 MiB for one message of 100 MB).
describe('a body on its way in', () => {
  it('leaves nothing of a chunk behind that was handed on', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const outgoing = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', method: 'POST' });
    outgoing.on('error', () => undefined);
    outgoing.flushHeaders();
    const [incoming] = (await once(server, 'request')) as [IncomingMessage];
    const body = readBody(incoming, systemClock, { idleMs: 60_000, minRate: 1 })[Symbol.asyncIterator]();
    const handedOn: WeakRef<Uint8Array>[] = [];
    for (let i = 0; i < 20; i++) {
      const next = body.next();
      outgoing.write(Buffer.alloc(100_000, i));
      const { value } = await next;
      handedOn.push(new WeakRef(value as Uint8Array));
    }
    // a WeakRef holds what it names until the turn ends
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(handedOn.slice(0, 15).filter((chunk) => chunk.deref() !== undefined)).toEqual([]);
    outgoing.destroy();
    server.closeAllConnections();
    server.close();
  });
});
