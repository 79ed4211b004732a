import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createEndpoint } from '../../src/index.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { systemClock } from '../../src/clock.js';

/**
 * `node handler-endpoint-main.js DIR hold|take [redeliver]`: an application that embeds the endpoint. Its handler says on
 * standard output what it was given, and then takes it at once, or never comes back.
 */
const [folder = '.', manner = 'take', uncertain] = process.argv.slice(2);
const say = (what: string): boolean => process.stdout.write(`${what}\n`);

const endpoint = createEndpoint({
  ledger: await lmdbLedger({ path: join(folder, 'ledger') }),
  journal: join(folder, 'journal'), spool: join(folder, 'spool'), state: join(folder, 'state'),
  endpoint: { profile: 'peppol', keys: { certificate: join(folder, 'own.crt'), key: join(folder, 'own.key') } },
  security: { trust: join(folder, 'partners.pem') },
  defaults: uncertain === 'redeliver' ? { uncertain: 'redeliver' } : {},
  handler: async ({ messageId, mark, idempotencyKey, payloads }) => {
    const text = (await payloads[0]?.bytes())?.toString() ?? '';
    say(`given ${JSON.stringify({ messageId, mark, idempotencyKey, text })}`);
    if (manner === 'hold') await new Promise(() => undefined);
    say(`taken ${messageId}`);
  },
});
endpoint.events.on('exchange', ({ messageId, answer }) => say(`answered ${JSON.stringify({ messageId, answer })}`));
const spooled = async (): Promise<void> => {
  for (;;) {
    const { spool } = await endpoint.load();
    if (spool.memoryBytes > 0) return void say('spooling');
    await systemClock.sleep(10);
  }
};
void spooled();
const server = createServer((request, response) => endpoint.handler(request, response));
server.listen(0, '127.0.0.1', () => say(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
