import type { Clock } from '../clock.js';
import type { Attempted, AttemptResult, Delivery } from '../delivery/port.js';
import { As4OnceError, ERRORS, type ErrorEntry } from '../errors.js';
import { plain, type Reply } from '../exchange.js';
import type { AnswerIn } from '../protocol.js';
import { buildError } from '../receipt/build-error.js';
import { buildReceipt } from '../receipt/build-receipt.js';
import { storeReply } from '../receipt/stored-reply.js';
import type { Identity } from '../security/keys.js';
import type { InboundContent } from '../security/open-message.js';
import type { Backend, Handed } from './backend.js';
import { handoverOf } from './handover.js';
import { isPing } from './ping.js';

export interface EndpointDeliveryOptions {
  readonly backend: Backend;
  /** Signs Receipts and Errors. */
  readonly identity: Identity;
  readonly clock: Clock;
}

/** Hands a proven message to the application, and signs what its sender is told. */
export function endpointDelivery(options: EndpointDeliveryOptions): Delivery {
  return { attempt: async (attempted) => await attempt(options, attempted) };
}

async function attempt(options: EndpointDeliveryOptions, attempted: Attempted): Promise<AttemptResult> {
  const content = attempted.content as InboundContent;
  if (isPing(attempted.message.facts)) return await receipted(options, content, 'ping');
  // this content was delivered under another MessageId, and policy says that once is enough
  if (attempted.suppress === true) return await receipted(options, content, 'suppressed');
  const handed = await options.backend.hand(handoverOf(attempted, content, options.clock.now()));
  return handed.kind === 'accepted'
    ? await receipted(options, content, 'delivered')
    : await failed(options, attempted, content, handed);
}

/** The Non-Repudiation Receipt of a message: built and signed once, stored, and given to every copy. */
async function receipted({ identity, clock }: EndpointDeliveryOptions, content: InboundContent, reason: string): Promise<AttemptResult> {
  const { envelope, message, verified } = content;
  const { contentType, body, receiptId } = await buildReceipt({
    soap: envelope.soap,
    refToMessageId: message.messageId,
    references: verified?.references ?? [],
    userMessage: message.element,
    ...signalInfo(clock),
  }, identity);
  const signerSerial = identity.certificate.x509.serialNumber;
  return {
    outcome: 'accepted', reason, hold: false, counts: true,
    reply: { status: 200, headers: [['Content-Type', contentType]], body },
    stored: storeReply({ status: 200, contentType, body, receiptId, signerSerial }),
  };
}

async function failed(
  options: EndpointDeliveryOptions, { rule }: Attempted, { envelope, message }: InboundContent, handed: Exclude<Handed, { kind: 'accepted' }>,
): Promise<AttemptResult> {
  const { detail } = handed;
  switch (handed.kind) {
    case 'rejected': {
      const error = new As4OnceError('DELIVERY_FAILED');
      const reply = await signedRefusal(options, error, { protocol: 'as4', soap: envelope.soap, messageId: message.messageId });
      return { outcome: 'rejected', reason: 'backend refused', detail, reply, hold: false, counts: true, code: 'DELIVERY_FAILED' };
    }
    case 'away':
      return { outcome: 'rejected', reason: 'backend away', detail, reply: comeAgain('UPSTREAM_DOWN'), hold: false, counts: handed.answered === true, code: 'UPSTREAM_DOWN' };
    case 'uncertain': {
      const hold = rule.uncertain === 'hold' || (rule.uncertain === 'auto' && !options.backend.idempotent);
      return { outcome: 'uncertain', reason: 'backend unclear', detail, reply: comeAgain('UPSTREAM_UNCLEAR'), hold, counts: true, code: 'UPSTREAM_UNCLEAR' };
    }
  }
}

/** Never an ebMS Error: nothing final can be said, and senders give up on those. */
function comeAgain(code: 'UPSTREAM_DOWN' | 'UPSTREAM_UNCLEAR'): Reply {
  const { status, endpointStatus = status }: ErrorEntry = ERRORS[code];
  return plain(endpointStatus, `${code}: try again later.\n`, [['Retry-After', '5']]);
}

/** A signed ebMS Error in the request's own SOAP version; 1.2 where that could not be read. */
export async function signedRefusal(
  { identity, clock }: Pick<EndpointDeliveryOptions, 'identity' | 'clock'>, error: As4OnceError, answerIn: AnswerIn,
): Promise<Reply> {
  const entry = ERRORS[error.code];
  if (!('ebms' in entry)) return plain(error.entry.status, `${error.code}: ${error.detail}\n`);
  const { contentType, body } = await buildError({
    soap: answerIn.soap ?? '1.2', entry, detail: error.detail, ...signalInfo(clock),
    ...(answerIn.messageId === undefined ? {} : { refToMessageId: answerIn.messageId }),
  }, identity);
  return { status: entry.status, headers: [['Content-Type', contentType]], body };
}

function signalInfo(clock: Clock): { readonly messageId: string; readonly timestamp: string } {
  return { messageId: `${clock.id()}@as4-once`, timestamp: new Date(clock.now()).toISOString() };
}
