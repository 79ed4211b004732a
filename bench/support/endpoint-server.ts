import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createEndpoint } from '../../src/index.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';

/** `node endpoint-server.js DIR`: an endpoint mounted in a plain server, whose application takes everything and does nothing. */
const folder = process.argv[2] ?? '.';
const endpoint = createEndpoint({
  ledger: await lmdbLedger({ path: join(folder, 'handler-ledger') }),
  journal: join(folder, 'journal'), spool: join(folder, 'spool'), state: join(folder, 'state'),
  endpoint: { profile: 'custom', keys: { certificate: join(folder, 'own.crt'), key: join(folder, 'own.key') } },
  security: { trust: join(folder, 'trust.pem'), encryption: 'optional', commonName: true },
  defaults: { resend: 'off' },
  handler: () => undefined,
});
const server = createServer((request, response) => endpoint.handler(request, response));
server.listen(0, '127.0.0.1', () => process.stdout.write(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void endpoint.close({ graceMs: 1_000 });
});
