import { once, type Ledger } from 'as4-once';
import { lmdbLedger } from 'as4-once/lmdb';

/** What the handler returns and every copy gets back: any JSON. */
interface Booking extends Readonly<Record<string, string>> {
  readonly order: string;
  readonly bookingNumber: string;
}

const ledger = await lmdbLedger({ path: process.argv[2] ?? './data' });
for (const copy of [1, 2, 3]) {
  // the second copy is another serialisation of the same order: the content is what you say it is
  const order = { externalReference: 'SO-1001', lines: copy === 3 ? [{ item: '1896-S', quantity: 99 }] : [{ item: '1896-S', quantity: 2 }] };
  console.log(`copy ${copy}: ${await receive(ledger, order)}`);
}
await ledger.close();

async function receive(on: Ledger, order: { readonly externalReference: string; readonly lines: readonly object[] }): Promise<string> {
  const result = await once<Booking>(
    on,
    { reference: order.externalReference, type: 'salesOrder', from: 'CRONUS', content: JSON.stringify(order.lines) },
    // throw: not taken, the next copy runs again. throw new Uncertain(): nobody knows, held for an operator
    async ({ idempotencyKey }) => ({ order: order.externalReference, bookingNumber: `B-${idempotencyKey.slice(0, 8)}` }),
    { window: '90d' },
  );
  // the compiler sees to it that no answer is forgotten: leave a case out and this function does not return a string
  switch (result.kind) {
    case 'first': return `booked as ${result.reply.bookingNumber}`;
    case 'replay': return `booked before as ${result.reply.bookingNumber}`;
    case 'inFlight': return `in work since ${new Date(result.since).toISOString()}`;
    case 'mismatch': return `refused: other content, first seen ${new Date(result.firstSeen).toISOString().slice(0, 10)}`;
    case 'held': return 'waits for an operator';
  }
}
