/**
 * What stands behind as4-once in these examples: takes every POST as a new message, keeps it as a file and gives an
 * answer that is never the same twice. So two equal answers can only come from the ledger.
 *
 * node receiver.mjs --port 9000 --folder delivered --answer contrl|ta1|mdn|json
 */
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '9000' }, folder: { type: 'string', default: 'delivered' }, answer: { type: 'string', default: 'json' } },
});
let taken = 0;

/** An interchange that accepts another one: CONTRL (UCI 0083 = 7), parties turned round. */
function contrl(body) {
  const [, , sender, recipient, , reference] = /UNB\+[^']*/.exec(body)?.[0].split('+') ?? [];
  const text = `UNB+UNOC:3+${recipient}+${sender}+260105:0915+C${taken}'UNH+1+CONTRL:D:3:UN'`
    + `UCI+${reference}+${sender}+${recipient}+7'UNT+3+1'UNZ+1+C${taken}'`;
  return ['application/edifact', text];
}

/** An interchange that holds nothing but a TA1 (TA104 = A). */
function ta1(body) {
  const isa = body.slice(0, 105).split('*');
  const number = String(taken).padStart(9, '0');
  const head = [...isa.slice(0, 5), isa[7], isa[8], isa[5], isa[6], ...isa.slice(9, 13), number, ...isa.slice(14)].join('*');
  return ['application/edi-x12', `${head}~TA1*${isa[13]}*${isa[9]}*${isa[10]}*A*000~IEA*0*${number}~`];
}

/** An unsigned MDN (RFC 3798, RFC 4130 7); a real gateway signs it, which is why it cannot simply be made again. */
function mdn(body, headers) {
  const boundary = `mdn-${taken}`;
  const text = [`--${boundary}`, 'Content-Type: text/plain', '', `Taken as number ${taken}.`,
    `--${boundary}`, 'Content-Type: message/disposition-notification', '', `Final-Recipient: rfc822; ${headers['as2-to']}`,
    `Original-Message-ID: ${headers['message-id']}`, 'Disposition: automatic-action/MDN-sent-automatically; processed',
    `--${boundary}--`, ''].join('\r\n');
  const more = { 'AS2-From': headers['as2-to'], 'AS2-To': headers['as2-from'], 'AS2-Version': '1.2', 'Message-ID': `<mdn-${taken}@receiver.example>` };
  return [`multipart/report; report-type=disposition-notification; boundary="${boundary}"`, text, more];
}

function json(body, headers) {
  return ['application/json', JSON.stringify({ number: taken, idempotencyKey: headers['idempotency-key'] })];
}

const answers = { contrl, ta1, mdn, json };
mkdirSync(values.folder, { recursive: true });

createServer((request, response) => {
  answer(request, response).catch((error) => response.destroy(error));
}).listen(Number(values.port), '127.0.0.1', () => console.error(`receiver on ${values.port}, answers ${values.answer}`));

async function answer(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  taken += 1;
  writeFileSync(join(values.folder, `${taken}.message`), Buffer.concat(parts));
  const [type, text, more = {}] = answers[values.answer](Buffer.concat(parts).toString('latin1'), request.headers);
  response.writeHead(200, { 'Content-Type': type, ...more }).end(text, 'latin1');
}
