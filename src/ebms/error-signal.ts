import { As4OnceError } from '../errors.js';
import type { ErrorEntry } from '../errors.js';
import { NS } from './namespaces.js';

/** What an ebMS Error SignalMessage says. */
export interface ErrorSignal {
  /** Version of the request; its envelope and media type are answered in kind. */
  readonly soap: '1.1' | '1.2';
  /** One of the table's entries that has an `ebms` code. */
  readonly entry: ErrorEntry;
  /** MessageId of the message refused, where it could be read. */
  readonly refToMessageId?: string;
  /** Goes out as ErrorDetail, so nothing that is the operator's alone. */
  readonly detail?: string;
  /** MessageId of this signal: fresh, `left@right`. */
  readonly messageId: string;
  /** xs:dateTime in UTC. */
  readonly timestamp: string;
}

/**
 * Builds an unsigned ebMS Error of severity failure (ebMS 3.0 Core 5.2.3.3, 6.2), valid against the schema. The word
 * that would tell a sender that its message is a repetition never stands in it: a detail that holds it is left out.
 * Throws INTERNAL for an entry that has no ebMS code.
 */
export function buildErrorSignal(signal: ErrorSignal): { readonly contentType: string; readonly body: Buffer } {
  const { ebms } = signal.entry;
  if (ebms === undefined) throw new As4OnceError('INTERNAL', 'an ebMS Error was asked for a code that has none');
  const detail = /^$|duplicat/i.test(signal.detail ?? '') ? undefined : signal.detail;
  const soap11 = signal.soap === '1.1';
  const reference = signal.refToMessageId;
  const body = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<S:Envelope xmlns:S="${soap11 ? NS.soap11 : NS.soap12}" xmlns:eb="${NS.eb}"><S:Header>`,
    `<eb:Messaging S:mustUnderstand="${soap11 ? '1' : 'true'}"><eb:SignalMessage><eb:MessageInfo>`,
    `<eb:Timestamp>${escape(signal.timestamp)}</eb:Timestamp><eb:MessageId>${escape(signal.messageId)}</eb:MessageId>`,
    reference === undefined ? '' : `<eb:RefToMessageId>${escape(reference)}</eb:RefToMessageId>`,
    `</eb:MessageInfo><eb:Error category="${escape(ebms.category)}" errorCode="${escape(ebms.code)}"`,
    reference === undefined ? '' : ` refToMessageInError="${escape(reference)}"`,
    ` severity="failure" shortDescription="${escape(ebms.short)}">`,
    `<eb:Description xml:lang="en">${escape(ebms.short)}</eb:Description>`,
    detail === undefined ? '' : `<eb:ErrorDetail>${escape(detail)}</eb:ErrorDetail>`,
    '</eb:Error></eb:SignalMessage></eb:Messaging></S:Header><S:Body/></S:Envelope>',
  ].join('');
  return { contentType: `${soap11 ? 'text/xml' : 'application/soap+xml'};charset=UTF-8`, body: Buffer.from(body) };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\t': '&#9;', '\n': '&#10;', '\r': '&#13;',
};

/** What is no character of XML 1.0 (2.2), lone surrogates among it. */
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text for content or attribute; characters that XML 1.0 cannot hold become U+FFFD. */
function escape(value: string): string {
  return value
    .replace(NOT_XML, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, (c) => ENTITIES[c]!);
}
