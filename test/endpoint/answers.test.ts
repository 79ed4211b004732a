import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { headerOf } from '../../conformance/as4/answer.js';
import { ERRORS, type ErrorCode } from '../../src/errors.js';
import { honest, serveEndpoint, type Served } from './served.js';

let served: Served;
let backend: Server | undefined;
afterEach(async () => {
  await served.close();
  const server = backend;
  backend = undefined;
  if (server !== undefined) await closed(server);
});

const closed = (server: Server): Promise<unknown> => new Promise((resolve) => {
  server.close(resolve);
  server.closeAllConnections();
});

/** A backend that does one thing with whatever is posted, or (`gone`) ended before anything could be. */
async function backendThat(does: number | 'cut' | 'gone'): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => (typeof does === 'number' ? response.writeHead(does).end() : request.socket.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  if (does === 'gone') await closed(server);
  else backend = server;
  return url;
}

/** HTTP status of a code in role endpoint, as docs/errors.md prints it. */
const statusOf = (code: ErrorCode): number => {
  const entry = ERRORS[code];
  return 'endpointStatus' in entry ? entry.endpointStatus : entry.status;
};

/**
 * docs/errors.md told of the front alone: that UPSTREAM_UNCLEAR is a 502, and UPSTREAM_DOWN comes after
 * `times.upstreamOutage`. An endpoint says 503 to the one, and the other at once: its own sender is who tries again.
 */
describe('role endpoint answers with the status of docs/errors.md', () => {
  it.each([
    ['gone', 'UPSTREAM_DOWN'], [429, 'UPSTREAM_DOWN'], [408, 'UPSTREAM_DOWN'],
    ['cut', 'UPSTREAM_UNCLEAR'], [500, 'UPSTREAM_UNCLEAR'], [302, 'UPSTREAM_UNCLEAR'],
    [422, 'DELIVERY_FAILED'], [404, 'DELIVERY_FAILED'],
  ] as const)('a backend that answers %s: %s', async (does, code) => {
    // an hour's outage would be waited out by whoever tried again
    served = await serveEndpoint({ times: { upstreamOutage: '1h' }, endpoint: { backend: { http: await backendThat(does) } } });
    const answer = await served.post(honest());
    expect(served.exchanges[0]).toMatchObject({ code });
    expect(answer.status).toBe(statusOf(code));
    if (code === 'DELIVERY_FAILED') expect(answer.errors[0]?.code).toBe(ERRORS.DELIVERY_FAILED.ebms?.code);
    else expect([answer.what, headerOf(answer, 'retry-after')]).toEqual(['other', expect.any(String)]);
  });
});
