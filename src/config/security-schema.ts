import { z } from 'zod';
import { duration, oneOrMore, onOff, path, secretField, section, text } from './values.js';

/** What a signature is judged by: role endpoint, and role front with `verify: signature`. */
export const securitySchema = section({
  trust: oneOrMore(path).optional().describe('PEM files with the certificates of the authorities that are trusted.'),
  crl: oneOrMore(path).optional().describe('Revocation lists (PEM or DER); re-read when they change. For a certificate that stands in trust itself, one counts whose issuer stands there too.'),
  certificates: oneOrMore(path).optional()
    .describe('PEM files of partners\' certificates, for messages that name theirs instead of carrying it.'),
  commonName: onOff.optional()
    .describe('The certificate\'s CN must be the From PartyId. Default: on for profile peppol, and in role front.'),
  allow: z.array(z.enum(['sha1', 'rsa15'])).optional()
    .describe('Outdated algorithms accepted all the same: SHA-1 digests and signatures, RSA 1.5 key transport.'),
  signature: z.enum(['required', 'optional']).optional()
    .describe('Role endpoint, profile custom only: whether messages must be signed. Default required.'),
  unsignedEmptyBody: z.enum(['refuse', 'accept']).optional()
    .describe('Whether an empty SOAP Body may be left out of the signature, as some products do. Default refuse.'),
  encryption: z.enum(['required', 'optional']).optional()
    .describe('Role endpoint: whether payloads must be encrypted. Default required.'),
  clockSkew: duration.optional().describe('How far a certificate\'s validity may be off. Default 0.'),
}).meta({ id: 'security' });

/** Certificate and key of a TLS listener. The files are re-read when they change. */
export const tlsSchema = section({
  certificate: path.describe('PEM file: certificate and chain.'),
  key: path.describe('PEM file: private key.'),
  ...secretField('passphrase', 'Passphrase of the private key.'),
  clientCa: oneOrMore(path).optional().describe('PEM files: authorities of client certificates.'),
  clientAuth: z.enum(['none', 'request', 'require']).optional()
    .describe('Whether clients must show a certificate. Default none.'),
  minVersion: z.enum(['TLSv1.2', 'TLSv1.3']).optional().describe('Default TLSv1.2.'),
}).meta({ id: 'tls' });

/** How we reach a server over TLS. */
export const tlsClientSchema = section({
  ca: oneOrMore(path).optional()
    .describe('PEM files: authorities trusted for the server. Default: those of the system.'),
  certificate: path.optional().describe('PEM file: our client certificate.'),
  key: path.optional().describe('PEM file: its private key.'),
  ...secretField('passphrase', 'Passphrase of the private key.'),
  serverName: text.optional().describe('Name expected in the server\'s certificate, where it is not the host\'s.'),
}).meta({ id: 'tlsClient' });

/** One key of our own; several may overlap while a certificate is replaced. */
export const keySchema = section({
  certificate: path.describe('PEM file: certificate, with its chain where partners need it.'),
  key: path.describe('PEM file: private key.'),
  ...secretField('passphrase', 'Passphrase of the private key.'),
  use: z.array(z.enum(['sign', 'decrypt'])).min(1).optional().describe('Default: both.'),
}).meta({ id: 'key' });

export type SecurityInput = z.output<typeof securitySchema>;
export type KeyInput = z.output<typeof keySchema>;
export type TlsInput = z.output<typeof tlsSchema>;
export type TlsClientInput = z.output<typeof tlsClientSchema>;
