import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.js';
import { As4OnceError } from '../../src/errors.js';
import { buildError } from '../../src/receipt/build-error.js';
import { buildReceipt, claimedReferences } from '../../src/receipt/build-receipt.js';
import { selfSigned } from '../../src/security/keys.js';
import { open } from '../security/corpus.js';

/**
 * `node naive-access-point-main.js DIR`: an access point without any duplicate detection. It signs a real NRR Receipt for
 * every UserMessage that it can read, believes every signature, and writes each copy into the folder as a delivery.
 */
const folder = process.argv[2] ?? '.';
mkdirSync(folder, { recursive: true });
const identity = selfSigned('naive-access-point');
let delivered = 0;

const signal = (): { messageId: string; timestamp: string } =>
  ({ messageId: `${systemClock.id()}@naive-access-point.test`, timestamp: new Date(systemClock.now()).toISOString() });

async function answer(request: IncomingMessage): Promise<{ readonly contentType: string; readonly body: Buffer }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  try {
    const { envelope } = open(body, request.headers['content-type']);
    const message = envelope.userMessage;
    if (message === undefined) throw new As4OnceError('HEADER_INVALID', 'no UserMessage');
    delivered += 1;
    writeFileSync(join(folder, String(delivered)), body);
    return await buildReceipt({
      soap: envelope.soap, refToMessageId: message.messageId, references: claimedReferences(envelope), userMessage: message.element, ...signal(),
    }, identity);
  } catch (error) {
    const known = error instanceof As4OnceError && error.entry.ebms !== undefined ? error : new As4OnceError('DELIVERY_FAILED', String(error));
    return await buildError({ soap: '1.2', entry: known.entry, detail: known.detail, ...signal() }, identity);
  }
}

const server = createServer((request, response) => {
  void answer(request).then(({ contentType, body }) => response.writeHead(200, { 'content-type': contentType }).end(body));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}/as4\n`));
