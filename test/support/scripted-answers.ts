import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { deflateRawSync, deflateSync, brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { Phase, Received, Step } from './scripted-upstream.js';

/** What a scripted upstream can do with a request. */

export interface SignalOptions {
  readonly status?: number;
  /** Default: the request's own MessageId. '' leaves RefToMessageId out. */
  readonly refTo?: string;
  /** Digests of the NRI: those of the request's signature, others, an NRI without `cid:`, or no NRI at all. */
  readonly digests?: 'echo' | 'other' | 'withoutCid' | 'none';
  /** An Error bundled with it. */
  readonly error?: ErrorOptions;
  readonly multipart?: boolean;
  readonly coding?: 'gzip' | 'x-gzip' | 'deflate' | 'raw deflate' | 'br';
  readonly messageId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ErrorOptions {
  readonly code?: string;
  readonly severity?: 'failure' | 'warning';
  readonly detail?: string;
  /** Attribute of the Error itself. */
  readonly refToInError?: string;
}

/** A Receipt for the request. */
export function receipt(options: SignalOptions = {}): Step {
  return signal(options, (request) => {
    const references = nri(request, options.digests ?? 'echo');
    const inner = options.digests === 'none' ? '<x:received xmlns:x="urn:test"/>' : `<ebbp:NonRepudiationInformation>${references}</ebbp:NonRepudiationInformation>`;
    return `<eb:Receipt>${inner}</eb:Receipt>${options.error === undefined ? '' : errorElement(options.error)}`;
  });
}

/** An ebMS Error for the request; severity failure by default. */
export function ebmsError(error: ErrorOptions = {}, options: SignalOptions = {}): Step {
  return signal(options, () => errorElement(error));
}

/** A UserMessage in reply (two-way sync). */
export function userMessageReply(options: SignalOptions = {}): Step {
  return whole((request) => {
    const info = messageInfo(options, request);
    const party = (role: string): string => `<eb:${role}><eb:PartyId>p</eb:PartyId><eb:Role>r</eb:Role></eb:${role}>`;
    const unit =
      `<eb:UserMessage>${info}<eb:PartyInfo>${party('From')}${party('To')}</eb:PartyInfo><eb:CollaborationInfo>` +
      '<eb:Service>s</eb:Service><eb:Action>a</eb:Action><eb:ConversationId>c</eb:ConversationId></eb:CollaborationInfo></eb:UserMessage>';
    return packed(envelope(unit), options);
  });
}

/** Any answer with that body. */
export function plain(status: number, contentType: string | undefined, body: string | Uint8Array, headers: Record<string, string> = {}): Step {
  return whole(() => ({ status, body: Buffer.from(body), headers: { ...(contentType === undefined ? {} : { 'Content-Type': contentType }), ...headers } }));
}

/** Exactly these bytes on the wire, then the connection is left open or ended. */
export function raw(bytes: string | Uint8Array, then: 'open' | 'end' = 'open'): Step {
  return {
    at: 'body',
    act: async (_request, socket) => {
      await write(socket, bytes);
      if (then === 'end') socket.end();
    },
  };
}

/** Cuts the connection with a TCP reset at that phase; `reply`: after half of a Receipt. */
export function reset(phase: Phase | 'reply'): Step {
  if (phase !== 'reply') return { at: phase, act: (_request, socket) => void socket.resetAndDestroy() };
  const step = receipt();
  return {
    at: 'body',
    act: async (request, socket) => {
      const bytes = serialize(compose(step, request));
      await write(socket, bytes.subarray(0, bytes.byteLength >> 1));
      socket.resetAndDestroy();
    },
  };
}

/** Never answers, from that phase on. */
export function hang(phase: Phase = 'body'): Step {
  return { at: phase, act: (_request, socket) => new Promise((resolve) => void socket.once('close', () => resolve())) };
}

/** Answers as `step` does once `gate` resolves. */
export function after(gate: Promise<unknown>, step: Step): Step {
  return {
    at: step.at,
    act: async (request, socket) => {
      await gate;
      await step.act(request, socket);
    },
  };
}

/** Answers as `step` does, in pieces of so many bytes, each in a turn of its own. */
export function inPieces(size: number, step: Step): Step {
  return {
    at: step.at,
    act: async (request, socket) => {
      const bytes = serialize(compose(step, request));
      for (let at = 0; at < bytes.byteLength && !socket.destroyed; at += size) {
        await write(socket, bytes.subarray(at, at + size));
        await new Promise((resolve) => void setImmediate(resolve));
      }
    },
  };
}

/** Answers before the body was read to its end, as `step` does. */
export function early(step: Step, at: Phase = 'headers'): Step {
  return { ...step, at };
}

export interface Composed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}
interface WholeStep extends Step {
  compose(request: Received): Composed;
}

/** What a step that answers whole would answer to that request: for tests without sockets. */
export function compose(step: Step, request: Received): Composed {
  return (step as WholeStep).compose(request);
}

function whole(make: (request: Received) => Composed): WholeStep {
  return { at: 'body', compose: make, act: (request, socket) => write(socket, serialize(make(request), request.method === 'HEAD')) };
}

function signal(options: SignalOptions, content: (request: Received) => string): Step {
  return whole((request) => packed(envelope(`<eb:SignalMessage>${messageInfo(options, request)}${content(request)}</eb:SignalMessage>`), options));
}

function messageInfo({ messageId, refTo }: SignalOptions, request: Received): string {
  const ref = refTo ?? messageIdOf(request);
  return (
    `<eb:MessageInfo><eb:Timestamp>2026-11-30T12:00:00.000Z</eb:Timestamp><eb:MessageId>${messageId ?? `${randomUUID()}@ap.test`}</eb:MessageId>` +
    `${ref === '' ? '' : `<eb:RefToMessageId>${ref}</eb:RefToMessageId>`}</eb:MessageInfo>`
  );
}

function envelope(unit: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?><S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope" ' +
    'xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" ' +
    'xmlns:ebbp="http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0">' +
    `<S12:Header><eb:Messaging S12:mustUnderstand="true">${unit}</eb:Messaging></S12:Header><S12:Body/></S12:Envelope>`
  );
}

function errorElement({ code = 'EBMS:0202', severity = 'failure', detail = 'the backend is away', refToInError }: ErrorOptions): string {
  const ref = refToInError === undefined ? '' : ` refToMessageInError="${refToInError}"`;
  return `<eb:Error errorCode="${code}" severity="${severity}" shortDescription="Test"${ref}><eb:ErrorDetail>${detail}</eb:ErrorDetail></eb:Error>`;
}

function packed(xml: string, { status = 200, multipart = false, coding, headers = {} }: SignalOptions): Composed {
  const soap = 'application/soap+xml; charset=UTF-8';
  const plainBody = multipart ? `--b1\r\nContent-Type: ${soap}\r\nContent-ID: <root@ap>\r\n\r\n${xml}\r\n--b1--\r\n` : xml;
  const type = multipart ? 'multipart/related; boundary="b1"; type="application/soap+xml"; start="<root@ap>"' : soap;
  const body = coded(Buffer.from(plainBody), coding);
  return { status, body, headers: { 'Content-Type': type, ...(coding === undefined ? {} : { 'Content-Encoding': coding === 'raw deflate' ? 'deflate' : coding }), ...headers } };
}

function coded(body: Buffer, coding: SignalOptions['coding']): Buffer {
  switch (coding) {
    case undefined:
      return body;
    case 'gzip':
    case 'x-gzip':
      return gzipSync(body);
    case 'deflate':
      return deflateSync(body);
    case 'raw deflate':
      return deflateRawSync(body);
    case 'br':
      return brotliCompressSync(body);
  }
}

/** The SOAP part as text, found by its markup alone. */
function soapOf(request: Received): string {
  const body = request.header('content-encoding') === 'gzip' ? gunzipSync(request.body) : request.body;
  const text = body.toString('latin1');
  const end = /<\/[\w.-]*:?Envelope\s*>/.exec(text);
  return end === null ? text : text.slice(0, end.index);
}

function messageIdOf(request: Received): string {
  return /<(?:[\w.-]+:)?MessageId(?:\s[^>]*)?>([^<]*)</.exec(soapOf(request))?.[1] ?? 'none@scripted';
}

function nri(request: Received, digests: NonNullable<SignalOptions['digests']>): string {
  const signedInfo = /<(?:[\w.-]+:)?SignedInfo[\s>][\s\S]*?<\/(?:[\w.-]+:)?SignedInfo>/.exec(soapOf(request))?.[0] ?? '';
  const found = [...signedInfo.matchAll(/<(?:[\w.-]+:)?Reference\s[^>]*URI=["']([^"']*)["'][\s\S]*?DigestMethod\s[^>]*Algorithm=["']([^"']*)["'][\s\S]*?DigestValue[^>]*>([^<]*)</g)];
  return found
    .filter(([, uri = '']) => digests !== 'withoutCid' || !uri.startsWith('cid:'))
    .map(([, uri = '', method, value]) => {
      const digest = digests === 'other' && uri.startsWith('cid:') ? 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' : value;
      return `<ebbp:MessagePartNRInformation><ds:Reference URI="${uri}"><ds:DigestMethod Algorithm="${method}"/><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ebbp:MessagePartNRInformation>`;
    })
    .join('');
}

export function serialize({ status, headers, body }: Composed, headOnly = false): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`HTTP/1.1 ${status} Scripted\r\n${lines.join('')}Content-Length: ${body.byteLength}\r\n\r\n`, 'latin1');
  return headOnly || status === 204 || status === 304 ? Buffer.from(head.toString('latin1').replace(/Content-Length.*\r\n/, ''), 'latin1') : Buffer.concat([head, body]);
}

function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => void socket.write(bytes, () => resolve()));
}
