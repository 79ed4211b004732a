import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import express, { type Request } from 'express';
import { Pool } from 'undici';
import { as4Protocol } from '../../src/ebms/as4.js';
import { LIMITS } from '../../src/limits.js';

/**
 * The servers a bench compares with, each a process of its own: `node servers.js KIND --port 0 [--upstream URL]`.
 *   upstream   answers every UserMessage with a Receipt of about 7 KB for its MessageId, at once
 *   replay     the baseline of a replay: Express reads the request, reads the root part with the same reader, sends the same bytes
 *   proxy      the baseline of a first delivery: a plain store-and-forward Express + undici proxy
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '0' }, upstream: { type: 'string', default: '' } },
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
      const reading = as4Protocol.open({ headers: Object.entries(request.headers) as [string, string][], target: request.url }, LIMITS);
      const chunks: Uint8Array[] = [];
      for await (const chunk of request as AsyncIterable<Uint8Array>) {
        chunks.push(chunk);
        await reading.push(chunk);
      }
      await reading.end();
      receipt ??= Buffer.from(receiptFor(Buffer.concat(chunks)));
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

const server = createServer(app(positionals[0] ?? 'upstream'));
server.listen(Number(values.port), '127.0.0.1', () => {
  process.stdout.write(`listening ${JSON.stringify(server.address())}\n`);
});
process.on('SIGTERM', () => process.exit(0));
