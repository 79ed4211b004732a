import { z } from 'zod';
import { keySchema, tlsClientSchema } from './security-schema.js';
import { httpUrl, onOff, oneOrMore, path, positiveDuration, secretField, section, size, text } from './values.js';

/** Where the endpoint delivers payloads. `handler` exists in the library only: there is nothing to write in a file. */
export const backendSchema = section({
  directory: path.optional().describe('Folder: payload and metadata as files, each written whole.'),
  http: z.union([httpUrl, section({
    url: httpUrl.describe('Where payloads are posted.'),
    ...secretField('token', 'Sent as Authorization: Bearer.'),
    timeout: positiveDuration.optional().describe('How long an answer is awaited. Default times.patience.'),
    tls: tlsClientSchema.optional().describe('For an https URL.'),
  })], { error: 'must be a URL or a mapping with url' }).optional()
    .transform((value) => (typeof value === 'string' ? { url: value } : value))
    .describe('URL that payloads are posted to, with an Idempotency-Key.'),
}).superRefine((backend, context) => {
  if ((backend.directory === undefined) === (backend.http === undefined)) {
    context.addIssue({ code: 'custom', message: 'needs exactly one of directory, http' });
  }
}).meta({ id: 'backend' });

export const endpointSchema = section({
  profile: z.enum(['peppol', 'edelivery', 'custom'])
    .describe('Which rules a message must keep: OpenPeppol AS4 2.0, eDelivery AS4 1.15, or those given here.'),
  partyId: oneOrMore(text).optional().describe('Our own PartyId; a message To another one is refused.'),
  receivers: oneOrMore(text).optional()
    .describe('Final recipients (C4) that are served; a message for another one is refused. Default: all.'),
  keys: oneOrMore(keySchema).optional()
    .describe('Our own certificates and keys. A list while one replaces another; the last one signs.'),
  backend: backendSchema.optional().describe('Where payloads are delivered.'),
  onlyPartners: onOff.optional().describe('Refuse senders that no partner rule matches. Default false.'),
  maxPayload: size.optional().describe('Largest payload after decompression. Default 1 GiB.'),
});

export type BackendInput = z.output<typeof backendSchema>;
export type EndpointInput = z.output<typeof endpointSchema>;
