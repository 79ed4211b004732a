import { randomUUID } from 'node:crypto';
import { NS, ROLE } from './names.js';
import { escapeAttribute, escapeText } from './xml.js';

export interface PartyRole {
  readonly id: string;
  readonly type?: string;
  readonly role: string;
}

export interface Property {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
}

/** One payload of a UserMessage, before compression. */
export interface Payload {
  readonly content: Buffer;
  /** Media type of the content itself; becomes the MimeType part property (AS4 3.1). */
  readonly mimeType: string;
  readonly compress: boolean;
  readonly contentId: string;
  readonly characterSet?: string;
}

/** What an eb:UserMessage says (ebMS Core 5.2.2). Everything is written as given, right or wrong. */
export interface UserMessage {
  readonly messageId: string;
  /** xs:dateTime in UTC. */
  readonly timestamp: string;
  readonly refToMessageId?: string;
  readonly mpc?: string;
  readonly from: PartyRole;
  readonly to: PartyRole;
  readonly agreement?: string;
  readonly service: string;
  readonly serviceType?: string;
  readonly action: string;
  readonly conversationId: string;
  readonly properties: readonly Property[];
  readonly payloads: readonly Payload[];
}

/** How the envelope is spelled; the defaults are what most senders write. */
export interface Spelling {
  readonly soap: '1.1' | '1.2';
  readonly soapPrefix: string;
  readonly ebPrefix: string;
  readonly declaration: boolean;
  readonly byteOrderMark: boolean;
  /** Raw XML in place of the escaped MessageId: CDATA, comments, child elements. */
  readonly messageIdXml?: string;
  /** wsu:Id values of eb:Messaging and of the SOAP Body; fresh ones unless given. */
  readonly messagingId?: string;
  readonly bodyId?: string;
  /** Raw XML: after eb:Messaging in the Header, after the UserMessage in eb:Messaging, and before the root element. */
  readonly afterMessaging?: string;
  readonly afterUserMessage?: string;
  readonly beforeRoot?: string;
  /** Changes the envelope before it is signed. */
  readonly shape?: (envelope: string) => string;
}

export const PLAIN_SPELLING: Spelling = {
  soap: '1.2',
  soapPrefix: 'S12',
  ebPrefix: 'eb',
  declaration: true,
  byteOrderMark: false,
};

/** Where the security header goes; replaced when the message is signed or encrypted, removed otherwise. */
export const SECURITY_SLOT = '<!--security-->';

export interface Envelope {
  readonly xml: string;
  readonly messagingId: string;
  readonly bodyId: string;
}

export function freshMessageId(): string {
  return `${randomUUID()}@as4-once-conformance.test`;
}

export function defaultRole(side: 'from' | 'to'): string {
  return side === 'from' ? ROLE.initiator : ROLE.responder;
}

/** Writes the SOAP envelope with an empty Body and a slot for the security header. */
export function writeEnvelope(message: UserMessage, spelling: Spelling): Envelope {
  const s = spelling.soapPrefix;
  const soap = spelling.soap === '1.2' ? NS.soap12 : NS.soap11;
  const must = `${s}:mustUnderstand="${spelling.soap === '1.2' ? 'true' : '1'}"`;
  const messagingId = spelling.messagingId ?? `_messaging-${randomUUID()}`;
  const bodyId = spelling.bodyId ?? `_body-${randomUUID()}`;
  const e = spelling.ebPrefix === '' ? '' : `${spelling.ebPrefix}:`;
  const xmlns = spelling.ebPrefix === '' ? 'xmlns' : `xmlns:${spelling.ebPrefix}`;
  const xml = [
    spelling.declaration ? '<?xml version="1.0" encoding="UTF-8"?>' : '',
    spelling.beforeRoot ?? '',
    `<${s}:Envelope xmlns:${s}="${soap}" xmlns:wsu="${NS.wsu}">`,
    `<${s}:Header>${SECURITY_SLOT}`,
    `<${e}Messaging ${xmlns}="${NS.eb}" ${must} wsu:Id="${messagingId}">`,
    userMessage(message, e, spelling),
    spelling.afterUserMessage ?? '',
    `</${e}Messaging>${spelling.afterMessaging ?? ''}</${s}:Header>`,
    `<${s}:Body wsu:Id="${bodyId}"/>`,
    `</${s}:Envelope>`,
  ].join('');
  return { xml: spelling.shape === undefined ? xml : spelling.shape(xml), messagingId, bodyId };
}

/** The eb:UserMessage element alone, with prefix `e` (colon included, or empty). */
export function userMessage(message: UserMessage, e: string, spelling: Pick<Spelling, 'messageIdXml'> = {}): string {
  const mpc = message.mpc === undefined ? '' : ` mpc="${escapeAttribute(message.mpc)}"`;
  const ref = message.refToMessageId === undefined ? '' : leaf(`${e}RefToMessageId`, message.refToMessageId);
  return [
    `<${e}UserMessage${mpc}>`,
    `<${e}MessageInfo>${leaf(`${e}Timestamp`, message.timestamp)}`,
    `<${e}MessageId>${spelling.messageIdXml ?? escapeText(message.messageId)}</${e}MessageId>${ref}</${e}MessageInfo>`,
    `<${e}PartyInfo>${party('From', message.from, e)}${party('To', message.to, e)}</${e}PartyInfo>`,
    `<${e}CollaborationInfo>`,
    message.agreement === undefined ? '' : leaf(`${e}AgreementRef`, message.agreement),
    leaf(`${e}Service`, message.service, message.serviceType),
    leaf(`${e}Action`, message.action),
    leaf(`${e}ConversationId`, message.conversationId),
    `</${e}CollaborationInfo>`,
    properties('MessageProperties', message.properties, e),
    payloadInfo(message.payloads, e),
    `</${e}UserMessage>`,
  ].join('');
}

function leaf(name: string, value: string, type?: string): string {
  return `<${name}${type === undefined ? '' : ` type="${escapeAttribute(type)}"`}>${escapeText(value)}</${name}>`;
}

function party(side: 'From' | 'To', party: PartyRole, e: string): string {
  return `<${e}${side}>${leaf(`${e}PartyId`, party.id, party.type)}${leaf(`${e}Role`, party.role)}</${e}${side}>`;
}

function properties(name: string, list: readonly Property[], e: string): string {
  if (list.length === 0) return '';
  const written = list.map(({ name: key, value, type }) => {
    const typed = type === undefined ? '' : ` type="${escapeAttribute(type)}"`;
    return `<${e}Property name="${escapeAttribute(key)}"${typed}>${escapeText(value)}</${e}Property>`;
  });
  return `<${e}${name}>${written.join('')}</${e}${name}>`;
}

function payloadInfo(payloads: readonly Payload[], e: string): string {
  if (payloads.length === 0) return '';
  const parts = payloads.map((payload) => {
    const list: Property[] = [{ name: 'MimeType', value: payload.mimeType }];
    if (payload.compress) list.push({ name: 'CompressionType', value: 'application/gzip' });
    if (payload.characterSet !== undefined) list.push({ name: 'CharacterSet', value: payload.characterSet });
    return `<${e}PartInfo href="cid:${escapeAttribute(payload.contentId)}">${properties('PartProperties', list, e)}` +
      `</${e}PartInfo>`;
  });
  return `<${e}PayloadInfo>${parts.join('')}</${e}PayloadInfo>`;
}
