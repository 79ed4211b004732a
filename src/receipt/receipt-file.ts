import { readAnswer } from '../ebms/answer.js';
import { trim } from '../ebms/elements.js';
import { fingerprintFromReceipt } from '../ebms/fingerprint.js';
import { openStoredFile } from '../ebms/stored-file.js';
import { As4OnceError } from '../errors.js';
import { header } from '../exchange.js';
import type { StoredReply } from '../ledger/record.js';
import type { Fingerprint } from '../message.js';
import { LIMITS } from '../limits.js';
import { firstBoundary } from '../mime/first-boundary.js';
import { signerSerial } from './signer.js';
import { storeReply } from './stored-reply.js';

/** A Receipt that an operator brings: what it answers, what it proves, and what later copies will get. */
export interface OperatorReceipt {
  readonly refToMessageId: string | undefined;
  readonly fingerprint: Fingerprint | undefined;
  readonly reply: StoredReply;
}

/**
 * Reads a Receipt from stored bytes (the SOAP envelope, or the whole HTTP response) as it would have been stored from
 * the wire. @throws As4OnceError RECEIPT_FOREIGN where there is no Receipt in it, or an Error beside it.
 */
export function receiptFrom(bytes: Uint8Array, name: string, contentType?: string): OperatorReceipt {
  const { headers, body } = openStoredFile(bytes, LIMITS);
  const type = contentType ?? (headers && header(headers, 'content-type')) ?? guessed(body);
  // What is stored here is replayed as a header field; a quotation mark pasted from a web page would end every answer.
  if (!/^[\t\x20-\x7e\x80-\xff]+$/.test(type)) throw new As4OnceError('RECEIPT_FOREIGN', `the Content-Type of ${name} holds characters that no header field may hold`);
  const envelope = readAnswer(type, body, LIMITS);
  const signal = envelope?.signals.find(({ kinds }) => kinds.includes('Receipt'));
  if (envelope === undefined || signal === undefined) throw new As4OnceError('RECEIPT_FOREIGN', `${name} holds no eb:Receipt`);
  if (signal.errors.some(({ severity }) => severity.toLowerCase() === 'failure')) {
    throw new As4OnceError('RECEIPT_FOREIGN', `${name} holds an Error of severity failure beside the Receipt`);
  }
  const serial = signerSerial(envelope.signatures);
  return {
    refToMessageId: signal.refToMessageId === undefined ? undefined : trim(signal.refToMessageId),
    fingerprint: fingerprintFromReceipt(signal.receipt?.nri ?? []),
    reply: storeReply({ status: 200, contentType: type, body, receiptId: signal.messageId, ...(serial === undefined ? {} : { signerSerial: serial }) }),
  };
}

function guessed(body: Uint8Array): string {
  const boundary = firstBoundary(body);
  if (boundary !== undefined) return `multipart/related; boundary="${boundary}"; type="application/soap+xml"`;
  return Buffer.from(body.subarray(0, 2048)).includes('http://schemas.xmlsoap.org/soap/envelope/') ? 'text/xml;charset=utf-8' : 'application/soap+xml;charset=utf-8';
}
