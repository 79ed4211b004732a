import { z } from 'zod';
import { limitsSchema, timesSchema } from './bounds-schema.js';
import { endpointSchema } from './endpoint-schema.js';
import { ledgerSchema } from './ledger-schema.js';
import { accessPoint, routeSchema, upstream } from './route-schema.js';
import { partnerSchema, ruleSchema } from './rule-schema.js';
import { securitySchema, tlsSchema } from './security-schema.js';
import { address, count, onOff, oneOrMore, path, secretField, section, text } from './values.js';
import { watchSchema } from './watch-schema.js';

const adminSchema = section({
  listen: address.describe('Where health, metrics, dashboard and the JSON API are served; not for the public.'),
  ...secretField('token', 'Needed for everything that writes, and for the API.'),
  tls: tlsSchema.optional().describe('TLS for the admin listener; clientAuth: require takes the place of the token.'),
  dashboard: onOff.optional().describe('Default true.'),
});

const logSchema = section({
  level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional()
    .describe('Default info: one line per exchange.'),
  file: path.optional().describe('Default: standard output.'),
  pretty: onOff.optional().describe('For reading by eye while trying out; one JSON object per line otherwise.'),
});

const trustProxy = z.union([onOff, count(1, 32), oneOrMore(text)], {
  error: 'must be true, false, a number of hops, or a list of addresses',
});

/** The whole configuration file, as it is written. The loader turns it into a Config (config.ts). */
export const configSchema = section({
  role: z.enum(['front', 'endpoint'])
    .describe('front: before somebody else\'s access point. endpoint: the access point itself.'),
  listen: address.optional().describe('Where messages arrive.'),
  tls: tlsSchema.optional().describe('TLS for the traffic listener.'),
  trustProxy: trustProxy.optional()
    .describe('Which proxies in front of us may tell the sender\'s address (X-Forwarded-For). Default false.'),
  healthPath: text.regex(/^\/[^?#\s]*$/).optional()
    .describe('A path of the traffic listener that answers whether this process takes messages.'),
  node: text.optional().describe('Name of this process in logs and records. Default: the host name.'),
  scope: text.optional().describe('Keeps references apart: tenant, test or production. Default: default.'),
  upstream: upstream.optional().describe('Where messages are delivered: one route, /. Or write routes.'),
  accessPoint: accessPoint.optional()
    .describe('What stands behind us: sets how long it remembers messages, and how it calls a repetition.'),
  routes: z.array(routeSchema).min(1).optional().describe('Several paths, each with protocol, upstream and policy.'),
  watch: z.array(watchSchema).min(1).optional().describe('Folders, for as4-once watch.'),
  ledger: ledgerSchema.describe('Where it is remembered what was accepted.'),
  defaults: ruleSchema.optional().describe('What holds for everybody.'),
  partners: z.array(partnerSchema).optional().describe('What differs for some.'),
  limits: limitsSchema.optional().describe('Bounds of sizes and numbers.'),
  times: timesSchema.optional().describe('Bounds of time. Keep lease < wait < answerBy < patience.'),
  endpoint: endpointSchema.optional().describe('Role endpoint: profile, keys and backend.'),
  security: securitySchema.optional().describe('What signatures are judged by.'),
  admin: adminSchema.optional().describe('The listener for operators.'),
  log: logSchema.optional().describe('The log.'),
  journal: path.optional()
    .describe('Folder for replies not settled yet. Default: journal, in the embedded ledger or beside the file.'),
  spool: path.optional()
    .describe('Folder for long bodies. Default: spool, in the embedded ledger or beside the file.'),
  state: path.optional()
    .describe('Folder of this process\' own notes. Default: state, in the embedded ledger or beside the file.'),
  mark: section({
    replay: onOff.optional().describe('Whether a replay carries As4-Once-Answer: replay. Default true.'),
  }).optional().describe('Marks for the sender.'),
});

export type ConfigInput = z.output<typeof configSchema>;
