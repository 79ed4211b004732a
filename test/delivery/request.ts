import type { DigestReference } from '../../src/ebms/units.js';
import type { Received } from '../support/scripted-upstream.js';

/** A bare SOAP request with a signature of that many references: as much of one as the scripted upstream reads. */
export function signedEnvelope(messageId: string, references: readonly DigestReference[]): string {
  const signed = references
    .map(({ uri, digestMethod, digestValue }) => `<ds:Reference URI="${uri}"><ds:DigestMethod Algorithm="${digestMethod}"/><ds:DigestValue>${digestValue}</ds:DigestValue></ds:Reference>`)
    .join('');
  return (
    '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#">' +
    `<ds:SignedInfo>${signed}</ds:SignedInfo></ds:Signature><eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/">` +
    `<eb:UserMessage><eb:MessageInfo><eb:MessageId>${messageId}</eb:MessageId></eb:MessageInfo></eb:UserMessage></eb:Messaging></s:Header><s:Body/></s:Envelope>`
  );
}

export function signedRequest(messageId: string, references: readonly DigestReference[]): Received {
  const body = Buffer.from(signedEnvelope(messageId, references));
  return { method: 'POST', target: '/as4', headers: [], header: () => undefined, body, complete: true, connection: 1 };
}
