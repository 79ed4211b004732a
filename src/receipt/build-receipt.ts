import { As4OnceError } from '../errors.js';
import { securityHeaders } from '../ebms/header-blocks.js';
import type { Envelope } from '../ebms/units.js';
import { ATTACHMENT, EXCLUSIVE, NS } from '../security/algorithms.js';
import type { Identity } from '../security/keys.js';
import { readSignature, type SignedReference } from '../security/signature.js';
import { MAX_BESIDE } from '../security/verify.js';
import { contentTypeOf, messagingElement, messagingScope, signEnvelope, type SoapVersion } from '../security/sign.js';
import { attributeValue, CanonicalWriter, characterData, write } from '../xml/canonical.js';
import { child, type XmlElement } from '../xml/tree.js';

/** What a Receipt says. The same values and the same key always give the same bytes. */
export interface ReceiptValues {
  /** Version of the request; it is answered in kind. */
  readonly soap: SoapVersion;
  /** MessageId of the Receipt itself: fresh, `left@right`. */
  readonly messageId: string;
  /** xs:dateTime in UTC. */
  readonly timestamp: string;
  /** MessageId of the UserMessage that is receipted. */
  readonly refToMessageId: string;
  /** The references that the sender signed, in its order (AS4 5.1.8). */
  readonly references: readonly SignedReference[];
}

export interface BuiltReceipt {
  readonly contentType: string;
  readonly body: Buffer;
  readonly receiptId: string;
}

/**
 * Builds and signs a Receipt. With references it is a Non-Repudiation Receipt (AS4 5.1.8 b); for a message that was not
 * signed it holds a copy of the UserMessage instead (5.1.8 a).
 */
export async function buildReceipt(
  values: ReceiptValues & { readonly userMessage?: XmlElement }, identity: Identity,
): Promise<BuiltReceipt> {
  const messaging = receiptMessaging(values, values.userMessage);
  const body = await signEnvelope(values.soap, messaging, identity);
  return { contentType: contentTypeOf(values.soap), body, receiptId: values.messageId };
}

/** eb:Messaging of a Receipt in canonical form. */
export function receiptMessaging(values: ReceiptValues, userMessage?: XmlElement): string {
  const { soap, references } = values;
  if (references.length === 0 && userMessage === undefined) {
    throw new As4OnceError('INTERNAL', 'a Receipt needs references or the UserMessage');
  }
  const content = references.length > 0 ? nonRepudiation(references) : copyOf(userMessage as XmlElement, soap);
  return messagingElement(soap, signalMessage(values, `<eb:Receipt>${content}</eb:Receipt>`));
}

/** eb:SignalMessage in canonical form. */
export function signalMessage(
  info: { readonly timestamp: string; readonly messageId: string; readonly refToMessageId?: string }, content: string,
): string {
  const reference = info.refToMessageId === undefined ? ''
    : `<eb:RefToMessageId>${characterData(info.refToMessageId)}</eb:RefToMessageId>`;
  return `<eb:SignalMessage><eb:MessageInfo><eb:Timestamp>${characterData(info.timestamp)}</eb:Timestamp>`
   
      + `<eb:MessageId>${characterData(info.messageId)}</eb:MessageId>${reference}</eb:MessageInfo>`
    + `${content}</eb:SignalMessage>`;
}

function nonRepudiation(references: readonly SignedReference[]): string {
  const part = 'ebbpsig:MessagePartNRInformation';
  const parts = references.map((r) => `<${part}>${referenceElement(r)}</${part}>`).join('');
  const information = 'ebbpsig:NonRepudiationInformation';
  return `<${information} xmlns:ebbpsig="${NS.ebbp}">${parts}</${information}>`;
}

const TRANSFORMS: Readonly<Record<SignedReference['transform'], string>> = {
  exclusive: EXCLUSIVE,
  attachmentContent: ATTACHMENT.contentSignature,
  attachmentComplete: ATTACHMENT.completeSignature,
};

/** ds:Reference in canonical form, as it stands in a SignedInfo but for prefixes, Id and Type. */
function referenceElement(reference: SignedReference): string {
  const { uri, prefixes, digestMethod, digest, transform } = reference;
  const names = attributeValue(prefixes.join(' '));
  const list = prefixes.length === 0 ? ''
    : `<ec:InclusiveNamespaces xmlns:ec="${NS.ec}" PrefixList="${names}"></ec:InclusiveNamespaces>`;
  return `<ds:Reference xmlns:ds="${NS.ds}" URI="${attributeValue(uri)}"><ds:Transforms>`
    + `<ds:Transform Algorithm="${TRANSFORMS[transform]}">${list}</ds:Transform></ds:Transforms>`
    + `<ds:DigestMethod Algorithm="${digestMethod}"></ds:DigestMethod>`
    + `<ds:DigestValue>${Buffer.from(digest).toString('base64')}</ds:DigestValue></ds:Reference>`;
}

function copyOf(userMessage: XmlElement, soap: SoapVersion): string {
  const writer = new CanonicalWriter(new Set(), messagingScope(soap));
  write(writer, userMessage);
  return writer.take();
}

/**
 * The references of an envelope's signature as they are claimed, for a receiver that leaves checking to somebody else;
 * one that checks takes them from verifyEnvelope's answer. Empty where there is no signature that can be read.
 */
export function claimedReferences(envelope: Envelope): readonly SignedReference[] {
  const [security] = securityHeaders(envelope);
  const signature = security === undefined ? undefined : child(security, NS.ds, 'Signature');
  if (signature === undefined) return [];
  const read = readSignature(signature, (envelope.userMessage?.payloads.length ?? 0) + 2 + MAX_BESIDE);
  return 'ok' in read ? [] : read.references;
}
