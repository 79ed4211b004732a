import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { open } from 'lmdb';
import { securityOf } from '../../src/config/security-files.js';
import type { StoredBody } from '../../src/delivery/port.js';
import { LIMITS } from '../../src/limits.js';
import { buildReceipt } from '../../src/receipt/build-receipt.js';
import { storeReply } from '../../src/receipt/stored-reply.js';
import { inboundProtocol } from '../../src/security/inbound.js';
import { loadIdentity } from '../../src/security/keys.js';
import type { InboundContent } from '../../src/security/open-message.js';
import type { PayloadSink } from '../../src/security/payload.js';

/**
 * `node endpoint-floor.js DIR`: the least that an endpoint's first message costs. The same reading, verification,
 * decryption and Receipt, the payload's digest, two durable writes, the compressed reply; and no policy, no states, no
 * second key, no log, no metrics, no bound on anything.
 */
const folder = process.argv[2] ?? '.';
const own = loadIdentity(readFileSync(join(folder, 'own.key')), readFileSync(join(folder, 'own.crt')), 'own');
const pmode = securityOf('custom', 'defaults', { trust: [join(folder, 'trust.pem')], encryption: 'optional', commonName: true });
const records = open<Buffer, string>({ path: join(folder, 'floor-ledger'), encoding: 'binary', overlappingSync: false, eventTurnBatching: false, noSubdir: false });

class Memory implements PayloadSink {
  readonly #chunks: Uint8Array[] = [];
  async write(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk);
  }
  async finish(): Promise<StoredBody> {
    const bytes = Buffer.concat(this.#chunks);
    return { length: bytes.length, bytes, stream: () => [bytes] as unknown as ReturnType<StoredBody['stream']>, dispose: async () => undefined };
  }
  async discard(): Promise<void> {}
}

const protocol = inboundProtocol({ keys: [own], maxPayload: 2 ** 30, now: () => Date.now(), pmodeOf: () => pmode, openPayload: () => new Memory() });

const handle = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
  const reading = protocol.open({ headers: Object.entries(request.headers) as [string, string][], target: request.url ?? '/' }, LIMITS);
  for await (const chunk of request as AsyncIterable<Uint8Array>) await reading.push(chunk);
  const read = await reading.end();
  if (read.kind !== 'message') throw new Error('no message');
  const { envelope, message, verified, payloads } = read.content as InboundContent;
  const { reference, facts, fingerprint } = read.message;
  const digests = payloads.map(({ body }) => hash('sha256', body.bytes ?? '', 'hex'));
  const key = hash('sha256', reference, 'hex');
  const claim = JSON.stringify({ reference, facts, fingerprint, digests, state: 'claimed' });
  await records.transaction(() => records.get(key) ?? records.putSync(key, Buffer.from(claim)));
  const receipt = { soap: envelope.soap, refToMessageId: message.messageId, references: verified?.references ?? [], messageId: `${key}@floor`, timestamp: new Date().toISOString() };
  const { contentType, body, receiptId } = await buildReceipt(receipt, own);
  const { deflated, sha256 } = storeReply({ status: 200, contentType, body, receiptId });
  const head = JSON.stringify({ reference, facts, fingerprint, digests, state: 'settled', sha256, receiptId });
  await records.transaction(() => records.get(key) !== undefined && records.putSync(key, Buffer.concat([Buffer.from(head), deflated])));
  response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': body.length }).end(body);
};

const server = createServer((request, response) => void handle(request, response).catch((error: unknown) => response.destroy(error as Error)));
server.listen(0, '127.0.0.1', () => process.stdout.write(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
process.once('SIGTERM', () => process.exit(0));
