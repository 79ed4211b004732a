import { randomUUID } from 'node:crypto';
import { ALGORITHM, NS } from '../../../conformance/as4/names.js';
import { signEnvelope } from '../../../conformance/as4/sign.js';
import { escapeAttribute, escapeText } from '../../../conformance/as4/xml.js';
import type { Identity } from '../../../conformance/keys.js';
import type { Incoming } from './incoming.js';

/** An answer of a test receiver. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** A signed Receipt for a message, or one without NRI where it was not signed. */
export function receiptReply(
  incoming: Incoming,
  identity: Identity,
  messageId = `${randomUUID()}@receiver.test`,
): Reply {
  const parts = incoming.references.map(({ uri, algorithm, digest }) => {
    const transform = uri.startsWith('cid:') ? ALGORITHM.attachmentContent : ALGORITHM.c14n;
    return `<ebbp:MessagePartNRInformation><ds:Reference URI="${escapeAttribute(uri)}"><ds:Transforms>` +
      `<ds:Transform Algorithm="${transform}"/></ds:Transforms><ds:DigestMethod Algorithm="${algorithm}"/>` +
      `<ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ebbp:MessagePartNRInformation>`;
  });
  const content =
    parts.length === 0
      ? '<r:received xmlns:r="urn:receiver.test"/>'
      : `<ebbp:NonRepudiationInformation xmlns:ebbp="${NS.ebbp}" xmlns:ds="${NS.ds}">${parts.join('')}` +
        '</ebbp:NonRepudiationInformation>';
  // an unsigned message is answered unsigned, which saves the tests most of their time
  const signer = incoming.signed ? identity : undefined;
  return signalReply(incoming.soap, messageId, incoming.messageId, `<eb:Receipt>${content}</eb:Receipt>`, signer);
}

export function errorReply(
  soap: '1.1' | '1.2',
  code: string,
  about: string | undefined,
  detail: string,
  identity: Identity,
): Reply {
  const error = `<eb:Error errorCode="${code}" severity="failure" category="Processing" shortDescription="refused">` +
    `<eb:ErrorDetail>${escapeText(detail.slice(0, 200))}</eb:ErrorDetail></eb:Error>`;
  return signalReply(soap, `${randomUUID()}@receiver.test`, about, error, identity);
}

export function textReply(status: number, text: string): Reply {
  return { status, contentType: 'text/plain', body: Buffer.from(`${text}\n`) };
}

function signalReply(
  soap: '1.1' | '1.2',
  messageId: string,
  about: string | undefined,
  content: string,
  identity: Identity | undefined,
): Reply {
  const ns = soap === '1.2' ? NS.soap12 : NS.soap11;
  const ids = { messagingId: `m-${randomUUID()}`, bodyId: `b-${randomUUID()}` };
  const reference = about === undefined ? '' : `<eb:RefToMessageId>${escapeText(about)}</eb:RefToMessageId>`;
  const messaging = [
    `<eb:Messaging xmlns:eb="${NS.eb}" wsu:Id="${ids.messagingId}"><eb:SignalMessage><eb:MessageInfo>`,
    `<eb:Timestamp>${new Date().toISOString()}</eb:Timestamp><eb:MessageId>${messageId}</eb:MessageId>${reference}` +
    '</eb:MessageInfo>',
    `${content}</eb:SignalMessage></eb:Messaging>`,
  ].join('');
  const envelope = (security: string) =>
    `<S:Envelope xmlns:S="${ns}" xmlns:wsu="${NS.wsu}"><S:Header>${security}${messaging}</S:Header><S:Body ` +
    `wsu:Id="${ids.bodyId}"/></S:Envelope>`;
  const signature = identity === undefined ? '' : signEnvelope({ xml: envelope(''), ...ids }, [], identity).xml;
  const security = signature === '' ? '' : `<wsse:Security xmlns:wsse="${NS.wsse}">${signature}</wsse:Security>`;
  const xml = envelope(security);
  return {
    status: 200,
    contentType: soap === '1.2' ? 'application/soap+xml;charset=UTF-8' : 'text/xml;charset=UTF-8',
    body: Buffer.from(xml, 'utf8'),
  };
}
