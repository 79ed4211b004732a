// An operator settled a held message with a Content-Type pasted from a web page, typographic quotation marks included.
// It was stored, and the next copy ended the whole front with ERR_INVALID_CHAR in writeHead; after a restart every retry
// did it again. Such a value is refused where it comes from, and an old record that holds one answers without the field.
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { respond } from '../../src/http/respond.js';
import { receiptFrom } from '../../src/receipt/receipt-file.js';

const RECEIPT = '<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope" xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><S12:Header><eb:Messaging><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00Z</eb:Timestamp><eb:MessageId>r1</eb:MessageId><eb:RefToMessageId> m1\n</eb:RefToMessageId></eb:MessageInfo><eb:Receipt><x xmlns="urn:x"/></eb:Receipt></eb:SignalMessage></eb:Messaging></S12:Header><S12:Body/></S12:Envelope>';

it.each(['application/soap+xml; charset=“UTF-8”', 'text/xml\r\nX-Injected: 1', 'text/xml;\u0001'])('refuses to store the Content-Type %j', (type) => {
  expect(() => receiptFrom(Buffer.from(RECEIPT), 'r.xml', type)).toThrow(/RECEIPT_FOREIGN/);
});

it('takes a good one, and the id without the white space around it', () => {
  expect(receiptFrom(Buffer.from(RECEIPT), 'r.xml', 'application/soap+xml').refToMessageId).toBe('m1');
});

it('answers without a field that cannot be written', async () => {
  const server = createServer((_request, response) => {
    void respond(response, { status: 200, headers: [['Content-Type', 'text/xml; “x”'], ['X-Good', 'yes']], body: Buffer.from('ok') });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect([answer.status, answer.headers.get('x-good'), answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'yes', null, 'ok']);
  server.close();
});
