import { z } from 'zod';
import { ACCESS_POINT_NAMES } from '../delivery/access-points.js';
import { backendSchema } from './endpoint-schema.js';
import { partnerSchema, ruleSchema } from './rule-schema.js';
import { tlsClientSchema } from './security-schema.js';
import { count, duration, httpUrl, onOff, positiveDuration, section, text } from './values.js';

/** Names of the presets; what each one sets stands in delivery/access-points.ts. */
export const accessPoint = z.enum(ACCESS_POINT_NAMES).meta({ id: 'accessPoint' });

export const upstreamSchema = section({
  url: httpUrl.describe('Where messages are delivered.'),
  remembers: duration.optional().describe('How long it remembers a MessageId itself. Default: as accessPoint says.'),
  persistent: onOff.optional().describe('Whether its memory survives its restart. Default: as accessPoint says.'),
  notReached: z.array(count(400, 599)).optional()
    .describe('Statuses that prove that it did not take the message. Default 429 and 503.'),
  preserveHost: onOff.optional()
    .describe('Pass the sender\'s Host field on instead of the upstream\'s own. Default false.'),
  connections: count(1, 10_000).optional().describe('Most connections at a time. Default: no bound.'),
  connectTimeout: positiveDuration.optional().describe('How long a connection may take to open. Default 10s.'),
  tls: tlsClientSchema.optional().describe('For an https URL.'),
});

export const upstream = z.union([httpUrl, upstreamSchema], { error: 'must be a URL or a mapping with url' })
  .transform((value) => (typeof value === 'string' ? { url: value } : value)).meta({ id: 'upstream' });

/** Where protocol `reference` finds a value in a request: exactly one way. */
export const extraction = section({
  header: text.optional().describe('Name of a header field.'),
  pointer: text.regex(/^(\/([^~]|~[01])*)+$/, { error: 'must be a JSON pointer such as /data/id' }).optional()
    .describe('JSON pointer into the body (RFC 6901).'),
  path: text.optional().describe('Path of elements of an XML body, such as /Order/Header/@id; prefixes are ignored.'),
  query: text.optional().describe('Name of a query parameter.'),
  value: text.optional().describe('A fixed value.'),
}).superRefine((given, context) => {
  if (Object.values(given).filter((way) => way !== undefined).length === 1) return;
  context.addIssue({ code: 'custom', message: 'needs exactly one of header, pointer, path, query, value' });
}).meta({ id: 'extraction' });

export const PROTOCOLS = ['as4', 'edifact', 'x12', 'sbdh', 'reference'] as const;

export const routeSchema = section({
  name: text.optional().describe('Name for logs and metrics. Default: the path.'),
  path: text.regex(/^\/[^?#\s]*$/, { error: 'must begin with / and hold no query' })
    .describe('Requests for this path and what lies below it take this route; the longest wins.'),
  protocol: z.enum(PROTOCOLS).optional().describe('What arrives there. Default as4.'),
  upstream: upstream.optional().describe('Where messages are delivered: a URL, or a mapping with url.'),
  accessPoint: accessPoint.optional()
    .describe('What stands behind this route, where it differs from the file\'s accessPoint.'),
  backend: backendSchema.optional().describe('Role endpoint: where this route\'s payloads are delivered.'),
  scope: text.optional().describe('Keeps references apart: tenant, test or production. Default: the file\'s scope.'),
  reference: extraction.optional().describe('Protocol reference: where the reference stands.'),
  type: extraction.optional().describe('Protocol reference: where the type of the reference stands.'),
  from: extraction.optional().describe('Protocol reference: who sent it.'),
  to: extraction.optional().describe('Protocol reference: whom it is for.'),
  methods: z.array(z.enum(['POST', 'PUT', 'PATCH', 'DELETE'])).min(1).optional()
    .describe('Protocol reference: the methods that carry messages; others pass. Default POST.'),
  noReference: z.enum(['forward', 'refuse']).optional()
    .describe('Protocol reference: a request in which no reference is found. Default forward, recorded nowhere.'),
  defaults: ruleSchema.optional().describe('What differs from the file\'s defaults on this route.'),
  partners: z.array(partnerSchema).optional().describe('Partners of this route, beside the file\'s.'),
});

export type RouteInput = z.output<typeof routeSchema>;
export type UpstreamInput = z.output<typeof upstream>;
export type ExtractionInput = z.output<typeof extraction>;
