import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { parseArgs } from 'node:util';
import express, { type Request } from 'express';
import { open } from 'lmdb';
import { Pool } from 'undici';
import { readAnswer } from '../../src/ebms/answer.js';
import { as4Protocol } from '../../src/ebms/as4.js';
import { LIMITS } from '../../src/limits.js';
import type { Read } from '../../src/protocol.js';
import { storeReply } from '../../src/receipt/stored-reply.js';

/**
 * The servers a bench compares with, each a process of its own: `node servers.js KIND --port 0 [--upstream URL]`.
 *   upstream   answers every UserMessage with a Receipt of about 7 KB for its MessageId, at once
 *   replay     the baseline of a replay: Express reads the request, reads the root part with the same reader, sends the same bytes
 *   proxy      the baseline of a first delivery: a plain store-and-forward Express + undici proxy
 *   floor      the proxy without Express, and nothing beside what a first delivery cannot do without: the same reading of
 *              the request and of the answer, two durable writes (`--folder`), the compressed reply
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '0' }, upstream: { type: 'string', default: '' }, folder: { type: 'string', default: '' } },
});

async function readAll(request: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function receiptFor(body: Buffer): string {
  const id = /MessageId>([^<]+)</.exec(body.toString('latin1'))?.[1] ?? '';
  const filler = 'x'.repeat(6_200);
  return `<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope" xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><S12:Header><eb:Messaging S12:mustUnderstand="true"><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00.000Z</eb:Timestamp><eb:MessageId>r-${id}</eb:MessageId><eb:RefToMessageId>${id}</eb:RefToMessageId></eb:MessageInfo><eb:Receipt><b:filler xmlns:b="urn:bench">${filler}</b:filler></eb:Receipt></eb:SignalMessage></eb:Messaging></S12:Header><S12:Body/></S12:Envelope>`;
}

const TYPE = 'application/soap+xml;charset=UTF-8';

async function readMessage(request: IncomingMessage): Promise<{ body: Buffer; read: Read }> {
  const reading = as4Protocol.open({ headers: Object.entries(request.headers) as [string, string][], target: request.url ?? '/' }, LIMITS);
  const chunks: Uint8Array[] = [];
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    await reading.push(chunk);
  }
  return { body: Buffer.concat(chunks), read: await reading.end() };
}

/** The least that a first delivery costs: no policy, no states, no log, no metrics, no bound on anything. */
function floor(): RequestListener {
  const { origin, pathname } = new URL(values.upstream);
  const pool = new Pool(origin, { connections: 128 });
  const records = open<Buffer, string>({ path: values.folder, encoding: 'binary', overlappingSync: false, eventTurnBatching: false, noSubdir: false });
  const handle = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const { body, read } = await readMessage(request);
    if (read.kind !== 'message') throw new Error('no message');
    const { reference, facts, fingerprint } = read.message;
    const key = createHash('sha256').update(reference).digest('hex');
    const claim = JSON.stringify({ reference, facts, fingerprint, state: 'claimed' });
    await records.transaction(() => records.get(key) ?? records.putSync(key, Buffer.from(claim)));
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const answer = await pool.request({ method: 'POST', path: pathname, body, headers });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const contentType = String(answer.headers['content-type']);
    const { deflated, sha256 } = storeReply({ status: answer.statusCode, contentType, body: bytes });
    const receiptId = readAnswer(contentType, bytes, LIMITS)?.signals[0]?.messageId;
    const head = JSON.stringify({ reference, facts, fingerprint, state: 'settled', sha256, receiptId });
    await records.transaction(() => records.get(key) !== undefined && records.putSync(key, Buffer.concat([Buffer.from(head), deflated])));
    response.writeHead(answer.statusCode, { 'Content-Type': contentType, 'Content-Length': bytes.length }).end(bytes);
  };
  return (request, response) => void handle(request, response).catch((error: unknown) => response.destroy(error as Error));
}

function app(kind: string): express.Express {
  const made = express();
  made.disable('x-powered-by');
  if (kind === 'upstream') {
    made.use(async (request: Request, response) => {
      response.set('Content-Type', TYPE).end(receiptFor(await readAll(request)));
    });
  } else if (kind === 'replay') {
    let receipt: Buffer | undefined;
    made.use(async (request: Request, response) => {
      const { body } = await readMessage(request);
      receipt ??= Buffer.from(receiptFor(body));
      response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': receipt.length }).end(receipt);
    });
  } else {
    const { origin, pathname } = new URL(values.upstream);
    const pool = new Pool(origin, { connections: 128 });
    made.use(async (request: Request, response) => {
      const body = await readAll(request);
      const answer = await pool.request({ method: 'POST', path: pathname, body, headers: { 'content-type': request.headers['content-type'] ?? '' } });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      response.writeHead(answer.statusCode, { 'Content-Type': String(answer.headers['content-type']), 'Content-Length': bytes.length }).end(bytes);
    });
  }
  return made;
}

const [kind = 'upstream'] = positionals;
const server = createServer(kind === 'floor' ? floor() : app(kind));
server.listen(Number(values.port), '127.0.0.1', () => {
  process.stdout.write(`listening ${JSON.stringify(server.address())}\n`);
});
process.on('SIGTERM', () => process.exit(0));
