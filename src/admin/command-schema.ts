import { z } from 'zod';
import { ledgerRecordSchema } from '../ledger/schema.js';
import { ANSWERS } from '../operate/report.js';

/**
 * What the commands print with --json, and what an import reads. Times are ISO 8601 in UTC where they are texts, epoch
 * milliseconds where they are numbers. schemas/commands.schema.json and import-line.schema.json are generated from this.
 */
const count = z.number().int().nonnegative();
const time = z.iso.datetime();
const ms = z.number().int().nonnegative().describe('Epoch milliseconds.');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

type Counts = Record<(typeof ANSWERS)[number], typeof count>;
const counts = z.strictObject(Object.fromEntries(ANSWERS.map((name) => [name, count])) as Counts)
  .describe('How many got which answer (docs/operate.md).');
const line = {
  partner: z.string().optional().describe('A configured partner, empty for everybody else, missing for all together.'),
  arrived: count.describe('The sum of the answers and of unanswered.'),
  unanswered: count.describe('Still in work, or the process ended under it.'),
  answers: counts,
};

const report = z.strictObject({
  from: time, to: time,
  summary: z.array(z.strictObject(line)).describe('All together first, then each partner.'),
  hours: z.array(z.strictObject({ ...line, hour: time })),
}).describe('as4-once report --json');

const shadowReport = z.strictObject({
  from: time, to: time,
  shadow: z.array(z.strictObject({
    partner: line.partner,
    messages: count,
    first: count.describe('Would have been delivered.'),
    duplicates: count.describe('Would have been answered with the stored reply.'),
    mismatches: count.describe('Would have been refused: the id with other content.'),
    resends: count.describe('The same content under a new id.'),
    late: count, uncertain: count, refusals: count,
    unknown: count.describe('The ledger was out of reach.'),
  })).describe('All together first, then each partner.'),
}).describe('as4-once report --shadow --json');

const problem = z.strictObject({
  code: z.string(), at: z.array(z.union([z.string(), z.number()])).describe('Where in the file.'), text: z.string(),
  line: count.optional(), column: count.optional(),
});

const demand = z.enum(['required', 'optional']);

const init = z.strictObject({
  role: z.enum(['front', 'endpoint']),
  file: z.string().nullable().describe('What was written; null without -o.'),
  keys: z.array(z.string()).describe('With --test-keys: keys and certificates beside the file.'),
  text: z.string().describe('The configuration.'),
}).describe('as4-once init --json');

const check = z.strictObject({
  file: z.string(), ok: z.literal(true),
  digest: z.string().describe('Equal on every node that runs the same configuration.'),
  effective: z.array(z.strictObject({
    name: z.string(), protocol: z.string(),
    rules: z.array(z.looseObject({ name: z.string() })).describe('The defaults, then each partner, complete.'),
    backend: z.string().optional().describe('Role endpoint: where payloads are delivered.'),
    security: z.array(z.strictObject({
      name: z.string(), signature: demand, encryption: demand,
      party: z.enum(['commonName', 'any']).describe('commonName: the signer\'s CN has to be the From PartyId.'),
      allow: z.array(z.enum(['sha1', 'rsa15'])).describe('Outdated algorithms that are accepted.'),
      trust: z.strictObject({
        anchors: count, firstEnds: time.optional().describe('When the first of them ends.'), revocationLists: count,
      }).optional().describe('Absent with --no-files.'),
    })).optional().describe('Role endpoint: what is demanded of messages, of the defaults and of each partner.'),
  })),
  endpoint: z.strictObject({
    profile: z.enum(['peppol', 'edelivery', 'custom']),
    partyIds: z.array(z.string()).optional().describe('Absent: To is not looked at.'),
    receivers: z.array(z.string()).optional().describe('Absent: all.'),
    onlyPartners: z.boolean(),
    keys: z.array(z.strictObject({
      use: z.array(z.enum(['sign', 'decrypt'])), signs: z.boolean().describe('The one that signs Receipts.'),
      subject: z.string().optional(), serial: z.string().optional().describe('Hex.'), notAfter: time.optional(),
    })).describe('Subject, serial and end are absent with --no-files.'),
  }).optional().describe('Role endpoint.'),
  warnings: z.array(problem),
  config: z.looseObject({}).describe('As it is in force, without secrets.'),
  projection: z.strictObject({ records: count, bytesPerRecord: z.number(), bytes: z.number() }).optional()
    .describe('With --rate.'),
}).describe('as4-once check --json, exit code 0 or 1');

const checkRefused = z.strictObject({ file: z.string(), ok: z.literal(false), problems: z.array(z.string()) })
  .describe('as4-once check --json, exit code 2');

const meta = {
  id: z.string(), created: ms, settles: count, now: ms, format: z.string(), newestFormat: z.string(),
  accepted: z.strictObject({ id: z.string(), when: ms, who: z.string(), reason: z.string() }).optional(),
};
const stats = { records: count, bytes: count, maxBytes: count.optional(), byState: z.record(z.string(), count).optional() };
const bypassed = z.strictObject({ since: ms, until: ms, who: z.string(), reason: z.string() });

const status = z.strictObject({
  ledger: z.strictObject({
    engine: z.string(), meta: z.strictObject(meta), stats: z.strictObject(stats), pingMs: z.number(),
    held: count, uncertain: count, inFlight: count,
  }),
  nodes: z.array(z.strictObject({
    node: z.string(), pid: count, version: z.string(), role: z.string(), config: z.string(), started: ms, at: ms,
    lastMinute: z.record(z.string(), count), waiting: count, underWay: count, journal: count,
    ledgerMs: z.number().optional(), behind: z.string().optional(), bypass: z.string().optional(),
    silent: z.boolean(), sameConfig: z.boolean(),
  })),
  configDigest: z.string(),
  bypass: bypassed.nullable(),
  attention: z.array(z.string()).describe('What somebody has to look at; empty with exit code 0.'),
}).describe('as4-once status --json');

const doctor = z.array(z.strictObject({ what: z.string(), level: z.enum(['ok', 'warn', 'fail']), text: z.string() }))
  .describe('as4-once doctor --json');

const ledgerStatus = z.strictObject({
  engine: z.string(), ...meta, ...stats, pingMs: z.number(),
  warnings: z.array(z.strictObject({ code: z.string(), text: z.string(), mayForget: z.boolean().optional() })),
  nodes: z.array(z.strictObject({
    node: z.string(), inOrder: z.boolean(), reason: z.string().optional(), since: time.optional(),
  })),
}).describe('as4-once ledger status --json');

const ledgerBackup = z.strictObject({
  engine: z.string(),
  ledger: z.strictObject({ id: z.string(), created: ms, settles: count, format: z.string(), now: ms }),
  kind: z.enum(['copy', 'lines']).describe('copy: the folder is a ledger itself. lines: its file is imported.'),
  files: z.array(z.strictObject({ name: z.string(), bytes: count, sha256 })),
}).describe('as4-once ledger backup --json, and as4-once-backup.json in the folder');

const imported = z.strictObject({
  written: z.boolean(),
  lines: count,
  fresh: count.describe('Written, or would be.'),
  withReceipt: count, uncertain: count,
  standing: count.describe('In the ledger already.'),
  expired: count, other: count, bad: count,
  problems: z.array(z.strictObject({ line: count, why: z.string() })).describe('The first bad lines.'),
  assumed: z.array(z.strictObject({ party: z.string(), type: z.string().nullable(), why: z.string() })),
}).describe('as4-once import --json');

const verification = z.strictObject({
  ok: z.boolean(),
  reason: z.string().describe('Why not; empty where ok.'),
  signed: z.strictObject({
    kind: z.string(), messageId: z.string(), refToMessageId: z.string().optional(),
    acknowledged: z.array(z.strictObject({ uri: z.string(), digest: z.string() })),
  }).optional(),
  signer: z.strictObject({ subject: z.string(), serial: z.string(), validTo: z.string() }).optional(),
  unchecked: z.array(z.string()),
}).describe('as4-once verify --json, and verification.json of an evidence archive');

const evidenceHttp = z.strictObject({
  status: z.number().int(), contentType: z.string(), headers: z.array(z.tuple([z.string(), z.string()])),
  length: count, sha256, receiptId: z.string().optional(), signerSerial: z.string().optional(), unreadable: z.string().optional(),
}).describe('receipt-http.json of an evidence archive');

const forgotten = z.strictObject({ looked: count, found: count, blanked: count, written: z.boolean() })
  .describe('as4-once forget --json');

const bypass = z.union([
  z.strictObject({ on: z.literal(false) }),
  z.strictObject({ on: z.literal(true), since: time, until: time, who: z.string(), reason: z.string() }),
]).describe('as4-once bypass status --json');

const claimed = z.union([
  z.strictObject({ found: z.literal('first'), token: z.string() }),
  z.strictObject({ found: z.literal('invalid'), code: z.string(), detail: z.string() }),
  z.strictObject({
    found: z.enum(['duplicate', 'mismatch', 'inFlight', 'mixed']),
    firstSeen: time.optional(), reference: z.string().optional(), why: z.string().optional(),
    acknowledgements: z.array(z.looseObject({ bytes: z.base64() })),
  }),
]).describe('as4-once claim --json');

const read = z.looseObject({
  verdict: z.enum(['parse', 'reject']), reason: z.string().optional(),
  category: z.string().optional(), size: count.optional(), sha256: sha256.optional(),
  key: z.string().optional(), fingerprint: z.string().optional(), rule: z.string().optional(),
  now: z.enum(['claim', 'redeliver', 'late', 'wait', 'replay', 'mismatch', 'held', 'known', 'pass', 'refuse']).optional()
    .describe('With --config: what a copy would meet.'),
}).describe('as4-once read --json; what else there is depends on the kind of file');

/** Every output by name: what the JSON Schema file holds in its $defs. show, list, settle, release: records.schema.json. */
export const COMMAND_SCHEMAS = {
  init, check, checkRefused, status, doctor, report, shadowReport, import: imported, ledgerStatus, ledgerBackup, bypass, verification,
  evidenceHttp, forget: forgotten, claim: claimed, read,
  settleToken: z.strictObject({ settled: count }).describe('as4-once settle --token --json'),
  releaseToken: z.strictObject({ released: count, outcome: z.enum(['rejected', 'uncertain']) })
    .describe('as4-once release --token --json'),
} as const;

const reference = z.string().min(1).max(1_024);
const party = z.union([reference, z.looseObject({ value: reference, type: z.string().optional() })]);
const parties = z.union([party, z.array(party)]);
const note = z.strictObject({
  shelf: z.string(), entries: z.record(z.string(), z.string().nullable()), keptMs: z.number().nonnegative(),
});

/** A line of what `as4-once import` reads. Fields of a message that are not named here are passed over. */
export const importLineSchema = z.union([
  z.looseObject({
    messageId: reference.describe('Compared exactly.'),
    from: parties.describe('The sender\'s PartyId: a text, with its type, or a list.'),
    fromType: z.string().optional().describe('The type of from, where that is a text.'),
    firstSeen: z.union([z.string().regex(/^\d{4}-\d{2}-\d{2}/), z.number().int().positive()])
      .describe('When it was first accepted: ISO 8601, or epoch milliseconds.'),
    receipt: z.string().min(1).max(1_024).optional().describe('A file in the folder of --receipts.'),
    to: parties.optional(), toType: z.string().optional(),
    type: z.string().min(1).max(1_024).optional().describe('Protocol reference: the type of the reference.'),
  }).describe('A message that an access point took before.'),
  z.looseObject({ event: z.string() }).describe('A line of our own log.'),
  z.strictObject({ record: ledgerRecordSchema }).describe('A record of a backup.'),
  z.strictObject({ note }).describe('Counters of a backup.'),
  z.looseObject({ backup: z.looseObject({}) }).describe('How a backup begins.'),
  z.looseObject({ end: z.looseObject({}) }).describe('How a backup ends.'),
]);
