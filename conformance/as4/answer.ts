import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { WireAnswer } from '../wire/send.js';
import { parameterOf, splitMultipart } from './multipart.js';
import { NS } from './names.js';
import { attributeOf, childrenOf, everyElement, onlyChild, plainText, readXml } from './xml.js';
import type { XmlElement } from './xml.js';

export interface ReceiptReference {
  readonly uri: string;
  readonly algorithm: string;
  readonly digest: string;
}

export interface ReceiptSignal {
  readonly messageId: string | undefined;
  readonly timestamp: string | undefined;
  readonly refToMessageId: string | undefined;
  /** ds:Reference elements of ebbp:NonRepudiationInformation; undefined where the Receipt has none. */
  readonly references: readonly ReceiptReference[] | undefined;
  readonly signed: boolean;
}

export interface ErrorSignal {
  readonly refToMessageId: string | undefined;
  readonly code: string;
  readonly severity: string;
  readonly shortDescription: string | undefined;
  readonly detail: string | undefined;
  readonly refToMessageInError: string | undefined;
}

/** An answer as an AS4 sender understands it. `what` is the strongest thing that it says. */
export interface Answer {
  readonly what: 'receipt' | 'error' | 'fault' | 'other' | 'none';
  /** One line for reports. */
  readonly summary: string;
  readonly wire: WireAnswer;
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  /** Body after transfer and content coding. */
  readonly body: Buffer;
  /** SHA-256 of `body`, hexadecimal. */
  readonly sha256: string;
  readonly soap?: '1.1' | '1.2';
  readonly envelope?: Buffer;
  readonly receipt?: ReceiptSignal;
  readonly errors: readonly ErrorSignal[];
}

/** Header field of the answer, by name in any case. */
export function headerOf(answer: Answer, name: string): string | undefined {
  if (answer.wire.kind !== 'response') return undefined;
  return answer.wire.response.headers.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}

/** Reads what came back. An answer that cannot be read is `other`, with the reason in its summary. */
export function readAnswer(wire: WireAnswer): Answer {
  const nothing = { wire, status: undefined, contentType: undefined, body: Buffer.alloc(0), sha256: '', errors: [] };
  if (wire.kind === 'none') return { ...nothing, what: 'none', summary: `no answer (${wire.why}: ${wire.detail})` };
  const { response } = wire;
  const field = (name: string) => response.headers.find(([key]) => key.toLowerCase() === name)?.[1];
  const contentType = field('content-type');
  let body: Buffer;
  try {
    body = decoded(response.body, field('content-encoding'));
  } catch {
    return {
      ...nothing,
      status: response.status,
      what: 'other',
      summary: `HTTP ${response.status}, content coding not readable`,
    };
  }
  const base = {
    wire,
    status: response.status,
    contentType,
    body,
    sha256: createHash('sha256').update(body).digest('hex'),
    errors: [],
  };
  if (body.length === 0) return { ...base, what: 'other', summary: `HTTP ${response.status}, empty` };
  try {
    const envelope = soapPart(body, contentType);
    if (envelope === undefined)
      return {
        ...base,
        what: 'other',
        summary: `HTTP ${response.status}, ${contentType ?? 'no Content-Type'}: ${excerpt(body)}`,
      };
    return { ...base, envelope, ...readEnvelope(envelope, response.status) };
  } catch (error) {
    return {
      ...base,
      what: 'other',
      summary: `HTTP ${response.status}, unreadable: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function decoded(body: Buffer, coding: string | undefined): Buffer {
  const limit = { maxOutputLength: 64 * 1024 * 1024 };
  switch (coding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(body, limit);
    case 'deflate':
      return inflateSync(body, limit);
    case 'br':
      return brotliDecompressSync(body, limit);
    default:
      throw new Error(`content coding ${coding}`);
  }
}

/** The SOAP part of an answer; undefined when the media type is none that carries SOAP. */
function soapPart(body: Buffer, contentType: string | undefined): Buffer | undefined {
  const essence = contentType?.split(';')[0]?.trim().toLowerCase();
  if (essence === 'multipart/related') {
    const boundary = parameterOf(contentType ?? '', 'boundary');
    if (boundary === undefined) throw new Error('multipart without a boundary');
    const parts = splitMultipart(body, boundary);
    const start = parameterOf(contentType ?? '', 'start');
    const bare = (id: string | undefined) => id?.replace(/^<|>$/g, '');
    const root =
      start === undefined ? parts[0] : parts.find((part) => bare(part.headers.get('content-id')) === bare(start));
    if (root === undefined) throw new Error('no root part');
    return root.bytes;
  }
  if (essence === 'application/soap+xml' || essence === 'text/xml' || essence === 'application/xml') return body;
  return undefined;
}

function readEnvelope(bytes: Buffer, status: number): Pick<Answer, 'what' | 'summary' | 'errors'> & Partial<Answer> {
  const root = readXml(bytes);
  const soap = root.ns === NS.soap12 ? '1.2' : root.ns === NS.soap11 ? '1.1' : undefined;
  if (soap === undefined || root.local !== 'Envelope')
    return { what: 'other', summary: `HTTP ${status}, XML that is no SOAP envelope`, errors: [] };
  const header = onlyChild(root, root.ns, 'Header');
  const messaging = onlyChild(header, NS.eb, 'Messaging');
  const fault = onlyChild(onlyChild(root, root.ns, 'Body'), root.ns, 'Fault');
  const signals = messaging === undefined ? [] : childrenOf(messaging, NS.eb, 'SignalMessage');
  const errors = signals.flatMap(readErrors);
  const receipt = signals.map((signal) => readReceipt(signal, header)).find((found) => found !== undefined);
  const common = { soap, errors, ...(receipt === undefined ? {} : { receipt }) } as const;
  const failure = errors.find((error) => error.severity !== 'warning') ?? errors[0];
  if (failure !== undefined && (receipt === undefined || failure.severity !== 'warning')) {
    return {
      ...common,
      what: 'error',
      summary: `HTTP ${status}, ebMS Error ${failure.code} severity ${failure.severity}`,
    };
  }
  if (receipt !== undefined)
    return { ...common, what: 'receipt', summary: `HTTP ${status}, Receipt ${receipt.messageId ?? '(no id)'}` };
  if (fault !== undefined) return { ...common, what: 'fault', summary: `HTTP ${status}, SOAP Fault` };
  return { ...common, what: 'other', summary: `HTTP ${status}, SOAP without a signal` };
}

function readErrors(signal: XmlElement): ErrorSignal[] {
  const info = onlyChild(signal, NS.eb, 'MessageInfo');
  return childrenOf(signal, NS.eb, 'Error').map((error) => ({
    refToMessageId: plainText(onlyChild(info, NS.eb, 'RefToMessageId')),
    code: attributeOf(error, '', 'errorCode') ?? '',
    severity: attributeOf(error, '', 'severity') ?? '',
    shortDescription: attributeOf(error, '', 'shortDescription'),
    detail: plainText(onlyChild(error, NS.eb, 'ErrorDetail')) ?? plainText(onlyChild(error, NS.eb, 'Description')),
    refToMessageInError: attributeOf(error, '', 'refToMessageInError'),
  }));
}

function readReceipt(signal: XmlElement, header: XmlElement | undefined): ReceiptSignal | undefined {
  const receipt = onlyChild(signal, NS.eb, 'Receipt');
  if (receipt === undefined) return undefined;
  const info = onlyChild(signal, NS.eb, 'MessageInfo');
  const information = onlyChild(receipt, NS.ebbp, 'NonRepudiationInformation');
  const security = header === undefined ? [] : childrenOf(header, NS.wsse, 'Security');
  return {
    messageId: plainText(onlyChild(info, NS.eb, 'MessageId')),
    timestamp: plainText(onlyChild(info, NS.eb, 'Timestamp')),
    refToMessageId: plainText(onlyChild(info, NS.eb, 'RefToMessageId')),
    references: information === undefined ? undefined : readReferences(information),
    signed: security.some((element) => childrenOf(element, NS.ds, 'Signature').length > 0),
  };
}

/** The ds:Reference elements below `parent`, wherever they stand. */
export function readReferences(parent: XmlElement): ReceiptReference[] {
  return [...everyElement(parent)]
    .filter((element) => element.ns === NS.ds && element.local === 'Reference')
    .map((element) => ({
      uri: attributeOf(element, '', 'URI') ?? '',
      algorithm: attributeOf(onlyChild(element, NS.ds, 'DigestMethod'), '', 'Algorithm') ?? '',
      digest: (plainText(onlyChild(element, NS.ds, 'DigestValue')) ?? '').replace(/\s+/g, ''),
    }));
}

function excerpt(body: Buffer): string {
  return JSON.stringify(body.subarray(0, 120).toString('utf8'));
}
