import express from 'express';
import { onceMiddleware } from 'as4-once';
import { lmdbLedger } from 'as4-once/lmdb';

const ledger = await lmdbLedger({ path: process.argv[2] ?? './data' });
const app = express();
const port = Number(process.env['PORT'] ?? 8080);
let booked = 0;

app.post(
  '/orders',
  express.json(),
  onceMiddleware<express.Request>(ledger, {
    message: (request) => {
      const reference = request.get('Idempotency-Key');
      return reference === undefined ? undefined : { reference, type: 'order', from: request.get('X-Client-Id') ?? '', content: JSON.stringify(request.body) };
    },
    wait: '5s',
    inFlight: 409,
  }),
  (_request, response) => {
    booked += 1;
    response.status(201).json({ number: booked });
  },
);

const server = app.listen(port, '127.0.0.1', () => console.error(`shop on ${port}`));
process.once('SIGTERM', () => server.close(() => void ledger.close()));
