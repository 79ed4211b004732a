/**
 * A small AS4 access point to try as4-once with, as a process of its own. It signs a real NRR Receipt for every
 * UserMessage it can read and writes the payload into a folder. On purpose it has no duplicate detection at all, checks
 * no signature of the sender and keeps whole messages in memory: it is a sample, not a product.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/clock.js';
import { As4OnceError, ERRORS, type ErrorEntry } from '../src/errors.js';
import { buildError } from '../src/receipt/build-error.js';
import { buildReceipt, claimedReferences } from '../src/receipt/build-receipt.js';
import { selfSigned } from '../src/security/keys.js';
import { Deliveries } from './deliveries.js';
import { readMessage, type Received } from './read-message.js';

const HELP = `sample-access-point [options]
  --port N          listens on this port of the loopback interface (8081; 0: any free one)
  --deliveries DIR  each delivery becomes one entry of this folder (deliveries)
  --slow MS         waits so long between delivery and answer (0)
  --fail-first      refuses the first attempt of every MessageId with an ebMS Error, delivering nothing
`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8081' },
    deliveries: { type: 'string', default: 'deliveries' },
    slow: { type: 'string', default: '0' },
    'fail-first': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** More than the sample wants to keep in memory, bytes. */
const MAX_BODY = 64 * 1024 * 1024;
const identity = selfSigned('sample-access-point');

interface Answer {
  readonly contentType: string;
  readonly body: Buffer;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY) chunks.push(chunk);
  }
  if (length > MAX_BODY) throw new As4OnceError('BODY_TOO_LARGE', `the sample takes ${MAX_BODY} bytes`);
  return Buffer.concat(chunks);
}

const signal = (): { messageId: string; timestamp: string } => ({
  messageId: `${systemClock.id()}@sample-access-point.test`,
  timestamp: new Date(systemClock.now()).toISOString(),
});

function refusal(entry: ErrorEntry, detail: string, received?: Received): Promise<Answer> {
  return buildError({
    soap: received?.envelope.soap ?? '1.2', entry, detail, ...signal(),
    ...(received === undefined ? {} : { refToMessageId: received.message.messageId }),
  }, identity);
}

function receipt({ envelope, message }: Received): Promise<Answer> {
  return buildReceipt({
    soap: envelope.soap, refToMessageId: message.messageId, references: claimedReferences(envelope), userMessage: message.element, ...signal(),
  }, identity);
}

/** Delivers, then signs: what a Receipt says is true when it is sent. */
async function accept(received: Received, deliveries: Deliveries, refusedOnce: Set<string>): Promise<Answer> {
  const { messageId } = received.message;
  if (values['fail-first'] && !refusedOnce.has(messageId)) {
    refusedOnce.add(messageId);
    process.stdout.write(`refused ${messageId}: first attempt\n`);
    return refusal(ERRORS.DELIVERY_FAILED, 'the sample refuses every first attempt (--fail-first)', received);
  }
  const name = await deliveries.write(messageId, received.payloads);
  process.stdout.write(`delivered ${messageId} as ${name}\n`);
  await sleep(Number(values.slow));
  return receipt(received);
}

async function answer(request: IncomingMessage, deliveries: Deliveries, refusedOnce: Set<string>): Promise<Answer> {
  try {
    const body = await readBody(request);
    return await accept(readMessage(request.headers['content-type'] ?? '', body), deliveries, refusedOnce);
  } catch (error) {
    const known = error instanceof As4OnceError && error.entry.ebms !== undefined ? error : new As4OnceError('DELIVERY_FAILED', String(error));
    process.stdout.write(`refused a request: ${known.message}\n`);
    return refusal(known.entry, known.detail);
  }
}

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const deliveries = await Deliveries.open(values.deliveries);
  const refusedOnce = new Set<string>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end();
      return;
    }
    answer(request, deliveries, refusedOnce).then(({ contentType, body }) => {
      response.writeHead(200, { 'content-type': contentType, 'content-length': body.length }).end(body);
    }, (error: unknown) => {
      process.stderr.write(`sample access point: ${String(error)}\n`);
      response.destroy();
    });
  });
  server.listen(Number(values.port), '127.0.0.1');
  await once(server, 'listening');
  process.stdout.write(`sample access point listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/as4\n`);
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      server.close();
      server.closeIdleConnections();
    });
  }
}

await main();
