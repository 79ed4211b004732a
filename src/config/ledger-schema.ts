import { z } from 'zod';
import { tlsClientSchema } from './security-schema.js';
import { count, onOff, path, positiveDuration, present, secret, secretField, section, size, text } from './values.js';

const nodeAddress = text.regex(/^(\[[0-9A-Fa-f:]+\]|[^:\s]+):\d{1,5}$/, { error: 'must be host:port' })
  .meta({ examples: ['redis-1:6379'] });
const redisUrl = secret.regex(/^rediss?:\/\//, { error: 'must be a redis:// or rediss:// URL' });

const redisSchema = section({
  url: redisUrl.optional()
    .describe('redis://user:password@host:6379/0, or rediss:// for TLS. The password is never printed.'),
  urlFile: text.optional().describe('File that holds the URL.'),
  client: z.enum(['ioredis', 'node-redis']).optional().describe('Client library. Default ioredis.'),
  username: text.optional().describe('ACL user.'),
  ...secretField('password', 'Password of the ACL user or of the server.'),
  database: count(0, 65_535).optional().describe('Number of the database; not in a cluster. Default 0, or the URL\'s.'),
  prefix: z.string().max(100).optional()
    .describe('What every key begins with; separates several uses of one server. Default as4-once:.'),
  sentinel: section({
    name: text.describe('Name of the master as the Sentinels know it.'),
    nodes: z.array(nodeAddress).min(1).describe('The Sentinels, host:port each.'),
    username: text.optional().describe('ACL user of the Sentinels.'),
    ...secretField('password', 'Password of the Sentinels.'),
  }).optional().describe('Find the master through Sentinels instead of a URL.'),
  cluster: section({
    nodes: z.array(nodeAddress).min(1).describe('Some nodes of the cluster, host:port each; the others are found.'),
  }).optional().describe('A Redis Cluster instead of a URL.'),
  tls: z.union([onOff, tlsClientSchema]).optional().describe('true, or the files to use. rediss:// implies it.'),
  waitReplicas: count(0, 100).optional().describe('A claim counts only when so many replicas have it. Default 0.'),
  commandTimeout: positiveDuration.optional().describe('How long one command may take. Default 2s.'),
  connectTimeout: positiveDuration.optional().describe('How long a connection may take to open. Default 5s.'),
});

export const ledgerSchema = section({
  embedded: path.optional()
    .describe('Folder of the embedded ledger: one machine, any number of processes, nothing to install.'),
  redis: z.union([redisUrl, redisSchema], { error: 'must be a redis:// URL or a mapping (url, sentinel or cluster)' })
    .optional()
    .describe('Redis 7 or later: several machines.'),
  memory: z.union([z.literal(true), z.literal('true')], { error: 'must be true' }).optional()
    .describe('Forgets everything when the process ends: for tests only.'),
  strict: onOff.optional()
    .describe('Refuse to work with a store that may forget or that went back in time. Default false: warn.'),
  maxBytes: size.optional()
    .describe('Take no new claims beyond this size; replays go on. Default: what disk or server allow.'),
}).superRefine((ledger, context) => {
  const given = (['embedded', 'redis', 'memory'] as const).filter((name) => ledger[name] !== undefined);
  if (given.length === 1) return;
  const what = given.length === 0 ? 'needs one of' : `names ${given.join(' and ')}; it can only be one of`;
  context.addIssue({ code: 'custom', message: `${what} embedded: DIR, redis: URL, memory: true` });
}).superRefine(({ redis }, context) => {
  if (redis === undefined || typeof redis === 'string') return;
  const given = (['url', 'sentinel', 'cluster'] as const).filter((name) => redis[name] !== undefined);
  if (given.length === 1) return;
  context.addIssue({ code: 'custom', path: ['redis'], message: 'needs exactly one of url, sentinel, cluster' });
});

export type RedisSettings = Omit<z.output<typeof redisSchema>, 'urlFile' | 'passwordFile'>;

interface LedgerCommon {
  readonly strict: boolean;
  /** Bytes. */
  readonly maxBytes?: number;
}

export type LedgerConfig = LedgerCommon & (
  | { readonly kind: 'embedded'; readonly embedded: string }
  | { readonly kind: 'redis'; readonly redis: RedisSettings }
  | { readonly kind: 'memory' }
);

export function ledgerOf(given: z.output<typeof ledgerSchema>): LedgerConfig {
  const { embedded, redis, strict = false, maxBytes } = given;
  const common: LedgerCommon = maxBytes === undefined ? { strict } : { strict, maxBytes };
  if (embedded !== undefined) return { ...common, kind: 'embedded', embedded };
  if (redis === undefined) return { ...common, kind: 'memory' };
  return { ...common, kind: 'redis', redis: typeof redis === 'string' ? { url: redis } : present(redis) };
}
