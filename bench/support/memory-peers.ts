import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';

/**
 * The parties of the memory bench, each a process of its own so that only the front's own memory is measured:
 *   upstream              hashes every body as it comes and answers with a Receipt; a message whose id begins with `slow`
 *                         is answered when /open is asked for. GET /seen gives the hashes by MessageId.
 *   copies --url U --count N --over MS --waiters W   waits for a message on standard input (JSON), sends N copies of it,
 *                         spread over MS milliseconds, says when all but W of them are answered, and at the end how
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: '' },
    count: { type: 'string', default: '1' },
    over: { type: 'string', default: '0' },
    waiters: { type: 'string', default: '0' },
  },
});

/** Enough of a message to hold its MessageId. */
const HEAD = 16 * 1024;
const TYPE = 'application/soap+xml;charset=UTF-8';

function receiptFor(id: string): string {
  return `<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope" xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><S12:Header><eb:Messaging S12:mustUnderstand="true"><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00.000Z</eb:Timestamp><eb:MessageId>r-${id}</eb:MessageId><eb:RefToMessageId>${id}</eb:RefToMessageId></eb:MessageInfo><eb:Receipt><b:filler xmlns:b="urn:bench">${'x'.repeat(6_200)}</b:filler></eb:Receipt></eb:SignalMessage></eb:Messaging></S12:Header><S12:Body/></S12:Envelope>`;
}

function upstream(): void {
  const seen = new Map<string, string[]>();
  const waiting: (() => void)[] = [];
  const deliver = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const hash: Hash = createHash('sha256');
    let head = Buffer.alloc(0);
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (head.length < HEAD) head = Buffer.concat([head, chunk.subarray(0, HEAD)]);
    }
    const id = /MessageId>([^<]+)</.exec(head.toString('latin1'))?.[1] ?? '';
    seen.set(id, [...(seen.get(id) ?? []), hash.digest('hex')]);
    if (id.startsWith('slow')) await new Promise<void>((resolve) => waiting.push(resolve));
    response.writeHead(200, { 'Content-Type': TYPE }).end(receiptFor(id));
  };
  const server = createServer((request, response) => {
    if (request.url === '/seen') {
      response.end(JSON.stringify(Object.fromEntries(seen)));
    } else if (request.url === '/open') {
      for (const open of waiting.splice(0)) open();
      response.end('open');
    } else {
      void deliver(request, response);
    }
  });
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${JSON.stringify(server.address())}\n`));
}

async function copies(): Promise<void> {
  process.stdout.write('ready "port":0\n');
  const [line] = (await once(process.stdin.setEncoding('utf8'), 'data')) as [string];
  const { contentType, body } = JSON.parse(line) as { contentType: string; body: string };
  const bytes = Buffer.from(body, 'base64');
  const count = Number(values.count);
  const pause = Number(values.over) / count;
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  const answers: Record<string, number> = {};
  const all: Promise<void>[] = [];
  let answered = 0;
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    const due = began + n * pause;
    if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
    all.push(
      send(agent, contentType, bytes).then((answer) => {
        answers[answer] = (answers[answer] ?? 0) + 1;
        answered += 1;
        if (answered === count - Number(values.waiters)) process.stdout.write('refused\n');
      }),
    );
  }
  await Promise.all(all);
  process.stdout.write(`answers ${JSON.stringify(answers)}\n`);
}

/** Status and a hash of the answer: how many different ones there are is what counts. */
function send(agent: Agent, contentType: string, body: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = httpRequest(
      values.url,
      { method: 'POST', agent, headers: { 'Content-Type': contentType, 'Content-Length': body.length } },
      (response) => {
        const hash = createHash('sha256');
        response.on('data', (chunk: Buffer) => hash.update(chunk));
        response.on('end', () =>
          resolve(
            `${response.statusCode} ${response.statusCode === 200 ? hash.digest('hex').slice(0, 12) : ''}`.trim(),
          ),
        );
      },
    );
    outgoing.on('error', (error) => resolve(error.message));
    outgoing.end(body);
  });
}

process.on('SIGTERM', () => process.exit(0));
if (positionals[0] === 'upstream') upstream();
else await copies();
