/**
 * The application behind the endpoint: books each document once. The Idempotency-Key is the name of the file, so what was
 * booked and what it was booked under cannot come apart; in a database both stand in one transaction.
 *
 * node application.mjs --port 9000 --folder booked [--cut-first]     books the first one and dies before it says so
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '9000' }, folder: { type: 'string', default: 'booked' }, 'cut-first': { type: 'boolean', default: false } },
});
let cut = values['cut-first'];
mkdirSync(values.folder, { recursive: true });

/** False where it was booked before. */
function book(key, document) {
  try {
    writeFileSync(join(values.folder, createHash('sha256').update(key).digest('hex')), document, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

createServer((request, response) => {
  take(request, response).catch((error) => {
    // 503, not 4xx: a 4xx would tell the sender that this document is never taken
    console.error(error);
    response.writeHead(503).end();
  });
}).listen(Number(values.port), '127.0.0.1', () => console.error(`application on ${values.port}`));

async function take(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const { 'idempotency-key': key, 'as4-once-copy': copy, 'as4-message-id': id } = request.headers;
  const first = book(key, Buffer.concat(parts));
  console.log(`${copy}: ${first ? 'booked' : 'booked before'} (${decodeURIComponent(id)})`);
  if (cut) {
    cut = false;
    request.socket.destroy();
    return;
  }
  response.writeHead(204).end();
}
