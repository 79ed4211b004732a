/** Envelopes and packages for the tests of this folder, built from what a test wants to be different. */

export const S12 = 'http://www.w3.org/2003/05/soap-envelope';
export const S11 = 'http://schemas.xmlsoap.org/soap/envelope/';
export const EB = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
export const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

export interface Sample {
  readonly soap?: string;
  readonly id?: string;
  readonly timestamp?: string;
  readonly from?: string;
  readonly to?: string;
  readonly action?: string;
  readonly properties?: string;
  readonly payloads?: string;
  /** Content of eb:Messaging beside or instead of the UserMessage. */
  readonly signals?: string;
  readonly messaging?: string;
  /** Content of wsse:Security. */
  readonly security?: string;
  readonly body?: string;
  readonly bodyId?: string;
}

export const cid = (...ids: readonly string[]): string => ids.map((id) => `<eb:PartInfo href="cid:${id}"/>`).join('');

export function userMessage(of: Sample = {}): string {
  return (
    `<eb:UserMessage><eb:MessageInfo><eb:Timestamp>${of.timestamp ?? '2026-01-02T03:04:05.678Z'}</eb:Timestamp>` +
    `<eb:MessageId>${of.id ?? 'm1@test'}</eb:MessageId></eb:MessageInfo><eb:PartyInfo>` +
    `<eb:From>${of.from ?? '<eb:PartyId type="urn:t">alice</eb:PartyId>'}<eb:Role>r1</eb:Role></eb:From>` +
    `<eb:To>${of.to ?? '<eb:PartyId>bob</eb:PartyId>'}<eb:Role>r2</eb:Role></eb:To></eb:PartyInfo><eb:CollaborationInfo>` +
    `<eb:AgreementRef pmode="p">agreed</eb:AgreementRef><eb:Service type="st">service</eb:Service><eb:Action>${of.action ?? 'act'}</eb:Action>` +
    `<eb:ConversationId>c1</eb:ConversationId></eb:CollaborationInfo>` +
    `<eb:MessageProperties>${of.properties ?? '<eb:Property name="originalSender">C1</eb:Property><eb:Property name="finalRecipient">C4</eb:Property>'}` +
    `</eb:MessageProperties>${of.payloads === undefined ? '' : `<eb:PayloadInfo>${of.payloads}</eb:PayloadInfo>`}</eb:UserMessage>`
  );
}

export function envelope(of: Sample = {}): string {
  const messaging = of.messaging ?? `<eb:Messaging u:Id="msg">${of.signals ?? ''}${userMessage(of)}</eb:Messaging>`;
  const security = of.security === undefined ? '' : `<w:Security xmlns:w="${WSSE}">${of.security}</w:Security>`;
  return (
    `<s:Envelope xmlns:s="${of.soap ?? S12}" xmlns:eb="${EB}" xmlns:u="${WSU}"><s:Header>${security}${messaging}</s:Header>` +
    `<s:Body u:Id="${of.bodyId ?? 'body'}">${of.body ?? ''}</s:Body></s:Envelope>`
  );
}

export function signature(references: readonly (readonly [uri: string, digest: string])[], keyInfo = ''): string {
  const refs = references
    .map(
      ([uri, digest]) =>
        `<d:Reference URI="${uri}"><d:DigestMethod Algorithm="${SHA256}"/><d:DigestValue>${digest}</d:DigestValue></d:Reference>`,
    )
    .join('');
  return (
    `<d:Signature xmlns:d="http://www.w3.org/2000/09/xmldsig#"><d:SignedInfo><d:CanonicalizationMethod Algorithm="c14n"/>` +
    `<d:SignatureMethod Algorithm="rsa"/>${refs}</d:SignedInfo><d:SignatureValue>AA==</d:SignatureValue>${keyInfo}</d:Signature>`
  );
}

/** An eb:Receipt with NonRepudiationInformation. */
export function receipt(references: readonly (readonly [uri: string, digest: string])[]): string {
  const parts = references.map(
    ([uri, digest]) =>
      `<r:MessagePartNRInformation><d:Reference xmlns:d="http://www.w3.org/2000/09/xmldsig#" URI="${uri}">` +
      `<d:DigestMethod Algorithm="${SHA256}"/><d:DigestValue>${digest}</d:DigestValue></d:Reference></r:MessagePartNRInformation>`,
  );
  return `<eb:Receipt><r:NonRepudiationInformation xmlns:r="http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0">${parts.join('')}</r:NonRepudiationInformation></eb:Receipt>`;
}

export const signal = (content: string, ref = 'm0@test'): string =>
  `<eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-01-02T03:04:05Z</eb:Timestamp><eb:MessageId>s1@test</eb:MessageId>` +
  `<eb:RefToMessageId>${ref}</eb:RefToMessageId></eb:MessageInfo>${content}</eb:SignalMessage>`;

export const signalEnvelope = (content: string, soap = S12): string =>
  envelope({ soap, messaging: `<eb:Messaging>${signal(content)}</eb:Messaging>` });

export const RELATED = 'multipart/related; boundary="B"; type="application/soap+xml"';

export function pack(root: string, ...parts: readonly (readonly [id: string, content: string])[]): Buffer {
  const others = parts
    .map(
      ([id, content]) => `\r\n--B\r\nContent-Type: application/octet-stream\r\nContent-ID: <${id}>\r\n\r\n${content}`,
    )
    .join('');
  return Buffer.from(`--B\r\nContent-Type: application/soap+xml; charset=UTF-8\r\n\r\n${root}${others}\r\n--B--\r\n`);
}
