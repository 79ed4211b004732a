import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import type { Upstream } from '../../src/delivery/port.js';
import { attempted, upstreamTo, type UpstreamChoices } from './attempt.js';

/** An access point behind https, with and without a certificate asked of us. */

let authority: Identity;
let ours: Identity;
let open: Running;
let closed: Running;
let upstream: Upstream | undefined;

interface Running {
  readonly server: Server;
  readonly url: string;
  readonly names: (string | undefined)[];
}

async function listen(identity: Identity, requestCert: boolean): Promise<Running> {
  const names: (string | undefined)[] = [];
  const server = createServer({ key: identity.keyPem, cert: identity.certificatePem, ca: authority.certificatePem, requestCert, rejectUnauthorized: requestCert }, (request, response) => {
    names.push(request.headers.host);
    request.resume().on('end', () => response.writeHead(404).end('no'));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/as4`, names };
}

beforeAll(async () => {
  authority = makeIdentity('Test CA');
  ours = makeIdentity('front', { issuer: authority });
  const theirs = makeIdentity('ap.test', { issuer: authority });
  open = await listen(theirs, false);
  closed = await listen(theirs, true);
});
afterEach(async () => {
  await upstream?.close();
});
afterAll(async () => {
  for (const { server } of [open, closed]) await new Promise((resolve) => server.close(resolve));
});

async function attempt(to: Running, choices: UpstreamChoices) {
  upstream = upstreamTo(to.url, { times: { upstreamOutage: 50 }, ...choices });
  return await upstream.attempt(attempted());
}

describe('https', () => {
  it('reaches an access point whose certificate and name are right', async () => {
    expect(await attempt(open, { tls: { ca: authority.certificatePem, servername: 'ap.test' } })).toMatchObject({ reason: 'clientError' });
  });

  it('sends nothing where the certificate is not trusted or the name is another', async () => {
    const before = open.names.length;
    for (const tls of [{}, { servername: 'ap.test' }, { ca: authority.certificatePem, servername: 'other.test' }, { ca: authority.certificatePem }]) {
      expect(await attempt(open, { tls })).toMatchObject({ outcome: 'rejected', reason: 'refused', counts: false });
    }
    expect(open.names).toHaveLength(before);
  });

  // undici takes the name that it verifies from the request's Host: with preserveHost the sender would have chosen it.
  it('verifies the access point\'s own name although the sender\'s Host is handed on', async () => {
    expect(await attempt(open, { preserveHost: true, tls: { ca: authority.certificatePem, servername: 'ap.test' } })).toMatchObject({ reason: 'clientError' });
    expect(open.names.at(-1)).toBe('front.example');
  });

  it('shows our certificate where one is asked for', async () => {
    const tls = { ca: authority.certificatePem, servername: 'ap.test', cert: ours.certificatePem, key: ours.keyPem };
    expect(await attempt(closed, { tls })).toMatchObject({ reason: 'clientError' });
    expect(await upstream?.probe()).toMatchObject({ reachable: true });
  });

  // Under TLS 1.3 the refusal of our certificate arrives as an alert after the first bytes of the request, and the end of
  // the connection behind it hid it: the attempt was uncertain, and held. (A server that just hangs up stays uncertain.)
  it('a certificate that is missing means that nothing was taken: rejected, not uncertain', async () => {
    const before = closed.names.length;
    const tls = { ca: authority.certificatePem, servername: 'ap.test' };
    expect(await attempt(closed, { tls })).toMatchObject({ outcome: 'rejected', reason: 'refused' });
    expect(closed.names).toHaveLength(before);
  });
});
