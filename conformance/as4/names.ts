/** Names of the standards as they stand on the wire. Compared by namespace and local name, never by prefix. */

export const NS = {
  eb: 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/',
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
  wsse: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  wsse11: 'http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd',
  wsu: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
  ebbp: 'http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0',
} as const;

export const ALGORITHM = {
  c14n: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
  rsaSha256: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  rsaSha512: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  attachmentContent: 'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform',
  attachmentCiphertext: 'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Ciphertext-Transform',
  attachmentOnly: 'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Only',
  aes128gcm: 'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  rsaOaep: 'http://www.w3.org/2009/xmlenc11#rsa-oaep',
  mgf1sha256: 'http://www.w3.org/2009/xmlenc11#mgf1sha256',
} as const;

export const TOKEN = {
  x509v3: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3',
  base64: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary',
  encryptedKey: 'http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#EncryptedKey',
} as const;

/** ebMS Core 5.2.2.8 and 5.2.2.9: a message to this service and action is a test and is not delivered. */
export const PING = { service: `${NS.eb}service`, action: `${NS.eb}test` } as const;

export const ROLE = { initiator: `${NS.eb}initiator`, responder: `${NS.eb}responder` } as const;

/** OpenPeppol AS4 2.0.3, sections 4.3 and 4.5. */
export const PEPPOL = {
  agreement: 'urn:fdc:peppol.eu:2017:agreements:tia:ap_provider',
  partyType: 'urn:fdc:peppol.eu:2017:identifiers:ap',
  service: 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0',
  serviceType: 'cenbii-procid-ubl',
  documentType:
    'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice' +
    '##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1',
  participantType: 'iso6523-actorid-upis',
} as const;
