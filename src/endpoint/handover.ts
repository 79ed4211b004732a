import { hash } from 'node:crypto';
import type { Attempted } from '../delivery/port.js';
import { idempotencyField } from '../delivery/idempotency-key.js';
import type { InboundContent } from '../security/open-message.js';
import type { Payload } from '../security/payload.js';
import type { Handover, Metadata, PayloadMetadata } from './backend.js';

/** What the backend gets of one attempt. `now` names what nobody claimed (a copy under detect-only, a bypassed ledger). */
export function handoverOf(attempted: Attempted, content: InboundContent, now: number): Handover {
  const { message, record, signal } = attempted;
  const { key, born, fingerprint, rejections } = record
    ?? { key: `unclaimed ${message.reference}`, born: now, fingerprint: message.fingerprint, rejections: 0 };
  return {
    name: hash('sha256', JSON.stringify([key, born]), 'hex').slice(0, 32),
    idempotencyKey: idempotencyField({ key, born, fingerprint, rejections }),
    again: record?.firstUncertain !== undefined,
    metadata: metadataOf(attempted, content),
    payloads: content.payloads,
    facts: message.facts,
    signal,
  };
}

function metadataOf({ message, mark, firstId }: Attempted, { message: user, verified, payloads }: InboundContent): Metadata {
  const { documents } = message;
  return {
    messageId: user.messageId,
    timestamp: user.timestamp,
    conversationId: user.conversationId,
    ...(user.refToMessageId === undefined ? {} : { refToMessageId: user.refToMessageId }),
    from: user.from,
    to: user.to,
    ...(user.agreement === undefined ? {} : { agreement: user.agreement.value }),
    service: user.service.value,
    ...(user.service.type === undefined ? {} : { serviceType: user.service.type }),
    action: user.action,
    ...(user.mpc === undefined ? {} : { mpc: user.mpc }),
    properties: user.messageProperties,
    ...(mark === undefined ? {} : { mark }),
    ...(firstId === undefined || firstId === user.messageId ? {} : { firstId }),
    ...(verified === undefined ? {} : {
      signer: {
        subject: verified.signer.x509.subject.replaceAll('\n', ', '), serial: verified.signer.serial.toString(16), sha256: verified.signer.fingerprint,
      },
    }),
    ...(documents === undefined ? {} : { documents: documents.map(({ kind, reference }) => ({ kind, reference })) }),
    payloads: payloads.map(payloadMetadata),
  };
}

function payloadMetadata(payload: Payload): PayloadMetadata {
  const { contentId, characterSet, body: { length, sha256 }, properties } = payload;
  return {
    ...(contentId === undefined ? {} : { contentId }),
    mimeType: mimeTypeOf(payload),
    ...(characterSet === undefined ? {} : { characterSet }),
    length,
    ...(sha256 === undefined ? {} : { sha256 }),
    properties,
  };
}

/** What the sender says the payload is, if that can be a media type at all. */
export function mimeTypeOf({ mimeType, partType }: Payload): string {
  const said = mimeType ?? partType;
  return /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(\s*;[\x20-\x7e]{0,200})?$/.test(said) ? said : 'application/octet-stream';
}
