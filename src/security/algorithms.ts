/** Algorithm identifiers of XML Signature, XML Encryption and WS-Security that are understood, and what they mean. */

export const NS = {
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  wsse: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  wsse11: 'http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd',
  wsu: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
  ec: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  eb: 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/',
  ebbp: 'http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0',
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
} as const;

export const EXCLUSIVE = NS.ec;

const SWA = 'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#';
export const ATTACHMENT = {
  contentSignature: `${SWA}Attachment-Content-Signature-Transform`,
  completeSignature: `${SWA}Attachment-Complete-Signature-Transform`,
  ciphertext: `${SWA}Attachment-Ciphertext-Transform`,
  contentOnly: `${SWA}Attachment-Content-Only`,
  complete: `${SWA}Attachment-Complete`,
} as const;

const X509 = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#';
export const TOKEN = {
  x509v3: `${X509}X509v3`,
  pkiPath: `${X509}X509PKIPathv1`,
  keyIdentifier: `${X509}X509SubjectKeyIdentifier`,
  thumbprint: 'http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1',
  base64: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary',
} as const;

export type HashName = 'sha1' | 'sha256' | 'sha384' | 'sha512';
export const HASH_OCTETS: Readonly<Record<HashName, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

export const SHA1_DIGEST = `${NS.ds}sha1`;
export const SHA256_DIGEST = `${NS.xenc}sha256`;
export const RSA_SHA1 = `${NS.ds}rsa-sha1`;
export const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

/** DigestMethod identifiers. */
export const DIGESTS: ReadonlyMap<string, HashName> = new Map([
  [SHA1_DIGEST, 'sha1'],
  [SHA256_DIGEST, 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  [`${NS.xenc}sha512`, 'sha512'],
]);

/** SignatureMethod identifiers, all RSASSA-PKCS1-v1_5 (eDelivery AS4 1.15, Peppol AS4 2.0). */
export const SIGNATURES: ReadonlyMap<string, HashName> = new Map([
  [RSA_SHA1, 'sha1'],
  [RSA_SHA256, 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', 'sha512'],
]);

/** What a P-Mode allows. The defaults are what eDelivery and Peppol allow; everything weaker has to be asked for. */
export interface AlgorithmPolicy {
  readonly signatures: ReadonlySet<string>;
  readonly digests: ReadonlySet<string>;
  /** RSA keys shorter than this many bits are refused. */
  readonly minRsaBits: number;
  /** RSA-1_5 key transport; a padding oracle by design, so never on by itself. */
  readonly rsa15: boolean;
}

export const STRICT: AlgorithmPolicy = {
  signatures: new Set([...SIGNATURES.keys()].filter((uri) => uri !== RSA_SHA1)),
  digests: new Set([...DIGESTS.keys()].filter((uri) => uri !== SHA1_DIGEST)),
  minRsaBits: 2_048,
  rsa15: false,
};

/** For a P-Mode that says so: SHA-1 signatures and digests, RSA-1_5 key transport, RSA-1024. */
export const LEGACY: AlgorithmPolicy = {
  signatures: new Set(SIGNATURES.keys()),
  digests: new Set(DIGESTS.keys()),
  minRsaBits: 1_024,
  rsa15: true,
};
