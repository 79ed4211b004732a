import { randomUUID } from 'node:crypto';
import { PEPPOL } from './as4/names.js';
import { defaultRole, freshMessageId } from './as4/user-message.js';
import type { Payload, Property, UserMessage } from './as4/user-message.js';
import { businessDocument } from './payload.js';

export const PROFILES = ['peppol', 'edelivery', 'custom'] as const;
export type ProfileName = (typeof PROFILES)[number];

/** What a profile leaves to the partners; a target file may override each of them. */
export interface Agreement {
  readonly from: { readonly id: string; readonly type?: string; readonly role?: string };
  readonly to: { readonly id: string; readonly type?: string; readonly role?: string };
  readonly service: string;
  readonly serviceType?: string;
  readonly action: string;
  readonly agreement?: string;
  readonly properties: readonly Property[];
  /** Media type of the payloads. */
  readonly mimeType: string;
  readonly compress: boolean;
}

/**
 * Values of a profile for two parties. Peppol: OpenPeppol AS4 2.0.3 section 4; edelivery: EC eDelivery AS4 1.15,
 * common profile.
 */
export function agreementOf(profile: ProfileName, from: string, to: string): Agreement {
  if (profile === 'peppol') {
    return {
      from: { id: from, type: PEPPOL.partyType },
      to: { id: to, type: PEPPOL.partyType },
      service: PEPPOL.service,
      serviceType: PEPPOL.serviceType,
      action: `busdox-docid-qns::${PEPPOL.documentType}`,
      agreement: PEPPOL.agreement,
      properties: [
        { name: 'originalSender', value: '9915:as4-once-sender', type: PEPPOL.participantType },
        { name: 'finalRecipient', value: '9915:as4-once-receiver', type: PEPPOL.participantType },
      ],
      mimeType: 'application/xml',
      compress: true,
    };
  }
  return {
    from: { id: from, type: 'urn:oasis:names:tc:ebcore:partyid-type:unregistered' },
    to: { id: to, type: 'urn:oasis:names:tc:ebcore:partyid-type:unregistered' },
    service: 'urn:as4-once:conformance',
    serviceType: 'urn:as4-once:services',
    action: 'submit',
    properties: [
      { name: 'originalSender', value: 'urn:as4-once:c1' },
      { name: 'finalRecipient', value: 'urn:as4-once:c4' },
    ],
    mimeType: 'application/xml',
    compress: true,
  };
}

/** A UserMessage under an agreement. Fresh MessageId, conversation and time unless given. */
export function messageUnder(
  agreement: Agreement,
  payloads: readonly Payload[],
  given: Partial<UserMessage> = {},
): UserMessage {
  return {
    messageId: freshMessageId(),
    timestamp: new Date().toISOString(),
    from: { role: defaultRole('from'), ...agreement.from },
    to: { role: defaultRole('to'), ...agreement.to },
    ...(agreement.agreement === undefined ? {} : { agreement: agreement.agreement }),
    service: agreement.service,
    // the type of the agreed service does not belong to another one
    ...(agreement.serviceType === undefined || given.service !== undefined
      ? {}
      : { serviceType: agreement.serviceType }),
    action: agreement.action,
    conversationId: `conversation-${randomUUID()}`,
    properties: agreement.properties,
    payloads,
    ...given,
  };
}

/** A payload of the profile that carries `token`, so that a delivery can be told from every other. */
export function payloadFor(profile: ProfileName, agreement: Agreement, token: string, bytes = 0): Payload {
  return {
    content: Buffer.from(businessDocument(profile, agreement, token, bytes), 'utf8'),
    mimeType: agreement.mimeType,
    compress: agreement.compress,
    contentId: `payload-${randomUUID()}@as4-once-conformance.test`,
  };
}
