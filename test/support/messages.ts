import { randomUUID, type X509Certificate } from 'node:crypto';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { PEPPOL } from '../../conformance/as4/names.js';
import { buildRequest, type BuiltRequest, type RequestPlan } from '../../conformance/as4/request.js';
import { defaultRole, type Payload, type PartyRole } from '../../conformance/as4/user-message.js';

/**
 * AS4 messages for tests, made by the conformance suite's client, which shares no code with src/: a fault of ours in
 * writing cannot hide the same fault in reading.
 */
export interface MessageChoices {
  readonly messageId?: string;
  /** Party id of the sender; default POP000001. */
  readonly from?: string;
  /** Party id of the receiver; default POP000002. */
  readonly to?: string;
  readonly soap?: '1.1' | '1.2';
  /** The envelope alone, without MIME; then `payloads` must be left out or empty. */
  readonly bare?: boolean;
  /** One entry per attachment; default one small XML document. */
  readonly payloads?: readonly (string | Buffer)[];
  /** gzip the payloads (AS4 3.1); default false. */
  readonly compress?: boolean;
  /** Signed with this identity; unsigned without. */
  readonly signer?: Identity;
  /** Attachments encrypted for this certificate. */
  readonly receiver?: X509Certificate;
  readonly service?: string;
  readonly action?: string;
  readonly conversationId?: string;
  readonly agreement?: string;
  /** originalSender and finalRecipient (four corner topology). */
  readonly c1?: string;
  readonly c4?: string;
  /** xs:dateTime; default now. */
  readonly timestamp?: string;
  /** Anything else the conformance client can do: spellings, tampering. */
  readonly plan?: Partial<Pick<RequestPlan, 'spelling' | 'mime' | 'tamper' | 'tamperParts' | 'order'>>;
}

export interface TestMessage extends BuiltRequest {
  readonly headers: Readonly<Record<string, string>>;
}

const PAYLOAD = '<?xml version="1.0"?><Invoice xmlns="urn:as4-once:test"><ID>1</ID></Invoice>';

/** One message; called twice with the same choices (MessageId included) it makes an honest retry: new wsu:Ids, new boundary. */
export function as4Message(choices: MessageChoices = {}): TestMessage {
  const payloads: Payload[] = (choices.payloads ?? (choices.bare === true ? [] : [PAYLOAD])).map((content, i) => ({
    content: Buffer.from(content),
    mimeType: typeof content === 'string' && content.startsWith('<') ? 'application/xml' : 'application/octet-stream',
    compress: choices.compress ?? false,
    contentId: `payload-${i + 1}@as4-once.test`,
  }));
  const built = buildRequest({
    message: {
      messageId: choices.messageId ?? `${randomUUID()}@as4-once.test`,
      timestamp: choices.timestamp ?? new Date().toISOString(),
      from: party(choices.from ?? 'POP000001', 'from'),
      to: party(choices.to ?? 'POP000002', 'to'),
      service: choices.service ?? PEPPOL.service,
      serviceType: PEPPOL.serviceType,
      action: choices.action ?? `busdox-docid-qns::${PEPPOL.documentType}`,
      agreement: choices.agreement ?? PEPPOL.agreement,
      conversationId: choices.conversationId ?? randomUUID(),
      properties: [
        { name: 'originalSender', value: choices.c1 ?? '9915:c1', type: PEPPOL.participantType },
        { name: 'finalRecipient', value: choices.c4 ?? '9915:c4', type: PEPPOL.participantType },
      ],
      payloads,
    },
    packaging: choices.bare === true ? 'bare' : 'multipart',
    ...(choices.signer === undefined ? {} : { identity: choices.signer }),
    ...(choices.receiver === undefined ? {} : { receiver: choices.receiver }),
    ...choices.plan,
    ...(choices.soap === undefined ? {} : { spelling: { ...choices.plan?.spelling, soap: choices.soap } }),
  });
  return { ...built, headers: { 'content-type': built.contentType } };
}

function party(id: string, side: 'from' | 'to'): PartyRole {
  return { id, type: PEPPOL.partyType, role: defaultRole(side) };
}

const identities = new Map<string, Identity>();

/** A self-signed identity per common name, made once per process: an RSA key takes a good part of a second. */
export function identity(commonName = 'POP000001'): Identity {
  let standing = identities.get(commonName);
  if (standing === undefined) {
    standing = makeIdentity(commonName);
    identities.set(commonName, standing);
  }
  return standing;
}
