import { createHash } from 'node:crypto';
import { As4OnceError } from '../errors.js';
import type { LedgerRecord } from '../ledger/record.js';
import { openReply } from '../receipt/stored-reply.js';
import { judgeStored, judgementText } from './judged-reply.js';
import { signedPieces } from './signed-pieces.js';
import type { Verdict } from './verdict.js';
import { zip, type ZipEntry } from './zip.js';

/** What stands in a dispute: gathered by the command, packed here. */
export interface EvidenceParts {
  readonly record: LedgerRecord;
  /** One line an event, oldest first. */
  readonly timeline: readonly string[];
  readonly verdict: Verdict;
  /** The record as `show --json` gives it. */
  readonly shown: object;
  /** The rule in force now; the one that governed is named in the record. */
  readonly rule: object | undefined;
  /** Lines of the log that name the message, as they stand there. */
  readonly log: readonly string[] | undefined;
  /** The original root part (`keepHeader`). */
  readonly root: { readonly bytes: Uint8Array; readonly kept: string } | undefined;
  readonly version: string;
  readonly at: Date;
}

/** The archive. Its last file but one holds the SHA-256 of all others, in the form that `sha256sum -c` reads. */
export function evidence(parts: EvidenceParts): Buffer {
  const { record, at } = parts;
  const files: ZipEntry[] = [
    text('record.json', json(parts.shown)),
    text('timeline.txt', `${parts.timeline.join('\n')}\n\n${parts.verdict.text}\n`),
    ...(parts.rule === undefined ? [] : [text('rule.json', json(parts.rule))]),
    ...receiptFiles(record),
    ...(parts.log === undefined ? [] : [text('log.jsonl', parts.log.map((line) => `${line}\n`).join(''))]),
    ...(parts.root === undefined ? [] : [{ name: 'message/root-part.xml', bytes: parts.root.bytes }]),
  ];
  const all = [...files, text('README.txt', readme(parts, files))];
  const sums = all.map(({ name, bytes }) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`).join('');
  return zip([...all, text('SHA256SUMS', sums)], at);
}

/** The reply byte for byte, what it said in HTTP, and what the independent implementation thinks of it. */
function receiptFiles({ reply }: LedgerRecord): readonly ZipEntry[] {
  if (reply === undefined) return [];
  const { status, contentType, headers = [], sha256, length, receiptId, signerSerial } = reply;
  const http = {
    status,
    contentType,
    headers,
    length,
    sha256,
    ...(receiptId === undefined ? {} : { receiptId }),
    ...(signerSerial === undefined ? {} : { signerSerial }),
  };
  let body: Uint8Array;
  try {
    body = openReply(reply);
  } catch (error) {
    const why = error instanceof As4OnceError ? error.detail : String(error);
    return [text('receipt-http.json', json({ ...http, unreadable: why }))];
  }
  const judgement = judgeStored(contentType, body);
  const soap = judgement.ok || Buffer.from(body.subarray(0, 4_096)).includes('Envelope');
  return [
    { name: nameOf(contentType), bytes: body },
    text('receipt-http.json', json(http)),
    ...(soap
      ? [
          text('verification.json', json(judgement)),
          text('verification.txt', judgementText(judgement)),
          ...signedPieces(contentType, body),
        ]
      : []),
  ];
}

function nameOf(contentType: string): string {
  if (/^multipart\//i.test(contentType)) return 'receipt.mime';
  return /xml/i.test(contentType) ? 'receipt.xml' : 'receipt.bin';
}

function readme({ record, at, version, root, log }: EvidenceParts, files: readonly ZipEntry[]): string {
  const has = (name: string): boolean => files.some((file) => file.name === name);
  const receipt = files.find(({ name }) => /^receipt\.(xml|mime|bin)$/.test(name))?.name;
  return [
    `Evidence for message ${JSON.stringify(record.reference)}, made by as4-once ${version} at ${at.toISOString()}.`,
    '',
    'record.json        what the ledger holds, without the bytes of the reply',
    "timeline.txt       attempts, copies and operators' decisions, and what they mean",
    ...(has('rule.json') ? ['rule.json          the rule of the configuration in force when this was made'] : []),
    ...(receipt === undefined
      ? ['There is no reply: nothing was accepted, or it was imported without one.']
      : [
          `${receipt.padEnd(18)} the reply, byte for byte as the sender got it`,
          'receipt-http.json  its HTTP status and Content-Type, its SHA-256 when it was stored',
        ]),
    ...(has('verification.json')
      ? ['verification.*     what a second implementation (xml-crypto, fast-xml-parser) says of its signature']
      : []),
    ...(log === undefined ? [] : ['log.jsonl          the lines of the log that name the message or its key']),
    ...(root === undefined ? [] : [`message/           the SOAP part of the message as it came, kept at ${root.kept}`]),
    '',
    'To check it without as4-once:',
    '',
    '  sha256sum -c SHA256SUMS',
    ...(has('signature/signer.pem')
      ? [
          '  openssl x509 -in signature/signer.pem -noout -subject -issuer -serial -dates',
          '  openssl x509 -in signature/signer.pem -noout -pubkey > signer-key.pem',
          '  openssl dgst -$(cat signature/hash.txt) -verify signer-key.pem -signature signature/value.bin signature/SignedInfo.xml',
          '  openssl dgst -sha256 -binary signature/Messaging.xml | base64      # the same as in signature/digests.txt',
          '',
          'signature/*.xml are the exact bytes that were hashed and signed: exclusive canonical form of the elements in the',
          'reply, which any XML Signature tool gives again from the reply itself. Whether the certificate is believed is for',
          'the reader to say.',
        ]
      : []),
    '',
  ].join('\n');
}

const text = (name: string, content: string): ZipEntry => ({ name, bytes: Buffer.from(content) });
const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
