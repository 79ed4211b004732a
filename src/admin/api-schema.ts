import { z } from 'zod';
import type { AnswerName } from '../events.js';
import { GROUP_OF, GROUPS } from './answer-groups.js';
import { STORM_COPIES } from './storms.js';

/**
 * The admin API, answer by answer (docs/admin-api.md). Times are ISO 8601 in UTC; texts that a sender wrote come as they
 * are, so whoever shows them has to escape them. schemas/admin-api.schema.json is generated from this.
 */
const time = z.iso.datetime();
const count = z.number().int().nonnegative();
const answer = z.enum(Object.keys(GROUP_OF) as [AnswerName, ...AnswerName[]]);
const group = z.enum(GROUPS);
const groups = z.strictObject(Object.fromEntries(GROUPS.map((name) => [name, count])) as Record<(typeof GROUPS)[number], typeof count>);

export const healthSchema = z.strictObject({
  status: z.enum(['ok', 'degraded', 'down']).describe('degraded: works, but something endangers the guarantee. down: no decision can be made.'),
  ledger: z.looseObject({
    engine: z.string(), up: z.boolean(), ms: z.number().optional().describe('Round trip.'), reason: z.string().optional(),
  }),
  warnings: z.array(z.strictObject({ code: z.string(), text: z.string() })).describe('What endangers the guarantee.'),
  shuttingDown: z.boolean(),
  can: z.strictObject({
    read: z.boolean().describe('Whether this caller sees messages and partners.'),
    write: z.boolean().describe('Whether this caller may act.'),
    name: z.string().optional().describe('From the client certificate. Without it, an act has to say who acts.'),
    signIn: z.enum(['token', 'certificate', 'none']).describe('How one becomes an operator here; none: neither is configured.'),
  }).describe('What this caller may do.'),
}).describe('GET /api/health, for anybody.');

export const ratesSchema = z.strictObject({
  asOf: time,
  uptimeSeconds: z.number().nonnegative(),
  answers: z.array(z.strictObject({
    answer, group,
    total: count.describe('Since this process started.'),
    lastMinute: count, last5Minutes: count, lastHour: count,
  })).describe('Answers that were given at least once.'),
  minutes: z.array(z.strictObject({ at: time, ...groups.shape })).length(60).describe('The last hour, oldest first; the last one is still running.'),
}).describe('GET /api/rates, for anybody: how this process answered.');

export const statusSchema = z.strictObject({
  asOf: time,
  node: z.string(),
  role: z.enum(['front', 'endpoint']),
  version: z.string(),
  configDigest: z.string().describe('Equal on every node that runs the same configuration.'),
  uptimeSeconds: z.number().nonnegative(),
  routes: z.array(z.strictObject({
    name: z.string(), path: z.string(), protocol: z.string(), scope: z.string(), partners: count,
    mode: z.string().describe('Of the route\'s defaults.'), window: count.describe('Of the route\'s defaults, milliseconds.'),
  })),
  underWay: count.describe('Attempts in progress at this process.'),
  waiting: count.describe('Copies that wait for one of them.'),
  spool: z.strictObject({ memoryBytes: count, diskBytes: count }),
  journal: count.describe('Replies that were sent and are not settled yet.'),
  ledger: z.strictObject({
    held: count, uncertain: count, inFlight: count,
    oldestHeld: time.optional(), oldestUncertain: time.optional(),
    records: count, bytes: count, maxBytes: count.optional(),
    byState: z.record(z.string(), count).optional(),
    id: z.string(), settles: count.describe('Settles ever seen; falls only if the ledger went back in time.'),
  }).optional().describe('Missing while the ledger cannot be reached.'),
  certificates: z.array(z.strictObject({ use: z.string(), file: z.string(), subject: z.string(), notAfter: time })),
}).describe('GET /api/status');

export const partnersSchema = z.strictObject({
  asOf: time,
  partners: z.array(z.strictObject({
    partner: z.string().nullable().describe('null: everybody who is not a configured partner, together.'),
    total: count.describe('Exchanges since this process started.'), groups, lastSeen: time,
  })),
}).describe('GET /api/partners: busiest first.');

const event = z.strictObject({
  at: time,
  what: z.enum(['attempt', 'accepted', 'rejected', 'uncertain', 'decision', 'copy']),
  text: z.string(),
});

export const recordSchema = z.strictObject({
  key: z.string().describe('The DuplicateKey, as in the log.'),
  messageId: z.string(),
  type: z.string().optional(),
  protocol: z.string(), scope: z.string(), rule: z.string(),
  state: z.enum(['claimed', 'open', 'held', 'settled', 'known']),
  means: z.string().describe('The state in one sentence.'),
  from: z.array(z.string()), to: z.array(z.string()),
  c1: z.string().optional(), c4: z.string().optional(), service: z.string().optional(), action: z.string().optional(), conversationId: z.string().optional(),
  firstSeen: time, windowEnds: time,
  attempts: count.describe('Attempts on record; the oldest are dropped first.'),
  lastReason: z.string().optional().describe('Why the last attempt ended as it did: a row of the outcome table.'),
  copies: count.describe('Copies after the first.'), lastSeen: time,
  fingerprint: z.string(),
  receipt: z.strictObject({
    status: z.number().int(), contentType: z.string(), bytes: count, sha256: z.string(), receiptId: z.string().optional(), signerSerial: z.string().optional(),
  }).optional().describe('What later copies get.'),
  timeline: z.array(event).describe('Oldest first.'),
  resolve: z.array(z.strictObject({ act: z.enum(['settle', 'release', 'show']), command: z.string(), when: z.string() }))
    .describe('Commands that resolve it, with the condition under which each is right.'),
}).describe('One message as the ledger knows it.');

export const recordsSchema = z.strictObject({ asOf: time, records: z.array(recordSchema) })
  .describe('GET /api/records?id=ID[&from=PARTY] or ?key=KEY: ids are compared exactly.');

export const listSchema = z.strictObject({
  asOf: time, what: z.enum(['held', 'uncertain', 'inFlight']),
  records: z.array(recordSchema),
  more: z.boolean().describe('Whether there are more than the limit.'),
}).describe('GET /api/list?what=held|uncertain|inFlight[&limit=N]');

export const stormsSchema = z.strictObject({
  asOf: time,
  storms: z.array(z.strictObject({
    key: z.string(), messageId: z.string(), partner: z.string().optional(), from: z.string().optional(),
    kind: z.enum(['unaccepted', 'reused']),
    copies: count.describe('Within the last hour, at this process.'), copiesEver: count.describe('At all processes.'),
    since: time, last: time, diagnosis: z.string(), command: z.string(),
  })),
}).describe(`GET /api/storms: messages that came ${STORM_COPIES} times or more within an hour after they were answered, worst first.`);

const reason = z.string().trim().min(1).max(1_000).describe('Why; written into the record and the log.');
const who = z.string().trim().min(1).max(200).optional().describe('Who acts; needed with a token, taken from the certificate otherwise.');
const key = z.string().min(1).max(200).describe('The DuplicateKey.');
const force = z.boolean().optional().describe('Although an attempt is in progress.');

export const settleRequest = z.strictObject({
  key,
  receipt: z.base64().min(1).describe('The access point\'s Receipt: SOAP envelope or whole HTTP response, base64.'),
  contentType: z.string().max(500).optional(),
  reason, who, force,
}).describe('POST /api/settle: the access point did take the message; later copies get this Receipt.');

export const releaseRequest = z.strictObject({ key, reason, who, force })
  .describe('POST /api/release: the access point did not take the message; the next copy is delivered once, marked.');

export const acceptRequest = z.strictObject({ reason, who })
  .describe('POST /api/ledger/accept: take the ledger as it is although it went back in time.');

export const bypassRequest = z.strictObject({
  on: z.boolean(),
  for: z.string().max(50).optional().describe('A duration of a day at most, such as 30m; needed to switch it on.'),
  reason, who,
}).describe('POST /api/bypass: let every message through unclaimed and marked for a while; for the servers of this machine.');

export const actedSchema = z.strictObject({ done: z.string(), record: recordSchema }).describe('Answer to POST /api/settle and /api/release.');

export const doneSchema = z.strictObject({ done: z.string() }).describe('Answer to POST /api/ledger/accept and /api/bypass.');

export const errorSchema = z.strictObject({ error: z.strictObject({ code: z.string(), detail: z.string(), advice: z.string() }) })
  .describe('Any other answer; the codes stand in docs/errors.md.');

/** Every shape of the API by name: what the JSON Schema file holds in its $defs. */
export const API_SCHEMAS = {
  health: healthSchema, rates: ratesSchema, status: statusSchema, partners: partnersSchema, record: recordSchema, records: recordsSchema,
  list: listSchema, storms: stormsSchema, settleRequest, releaseRequest, acted: actedSchema,
  acceptRequest, bypassRequest, done: doneSchema, error: errorSchema,
} as const;

export type RecordView = z.output<typeof recordSchema>;
export type StatusView = z.output<typeof statusSchema>;
