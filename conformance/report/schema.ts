import { z } from 'zod';
import { VERDICTS } from '../run/requirement.js';

const level = z.enum(['must', 'should', 'observe']);
const verdict = z.enum(VERDICTS);

const exchange = z.strictObject({
  label: z.string(),
  url: z.string(),
  atMs: z.number().int().describe('milliseconds since the requirement began'),
  request: z.strictObject({
    messageId: z.string(),
    contentType: z.string(),
    bytes: z.number().int(),
    sha256: z.string(),
    envelope: z
      .string()
      .optional()
      .describe('the SOAP envelope, cut at 16,384 characters; only where the requirement was not met'),
  }),
  answer: z.strictObject({
    what: z.enum(['receipt', 'error', 'fault', 'other', 'none']),
    summary: z.string(),
    status: z.number().int().nullable(),
    contentType: z.string().nullable(),
    bytes: z.number().int(),
    sha256: z.string().nullable(),
    ms: z.number().int(),
    body: z.string().optional().describe('cut at 16,384 characters; only where the requirement was not met'),
  }),
});

const result = z.strictObject({
  id: z.string(),
  document: z.string(),
  section: z.string(),
  title: z.string(),
  level: level.describe('level of the requirement'),
  judgedAs: level.describe('level at which this target was judged: a claim makes a must'),
  says: z.string().describe('what the source says'),
  refs: z.array(z.string()),
  sends: z.string(),
  expects: z.string(),
  verdict,
  detail: z.string().describe('why it was not met, or what was seen'),
  known: z.string().optional().describe('reason given in expected.yaml, where the verdict is the expected one'),
  unexpected: z.string().optional().describe('expected.yaml says otherwise: what it says'),
  ms: z.number().int(),
  exchanges: z.array(exchange),
});

/** The JSON report. `format` changes when a reader of an older one would misread it. */
export const reportSchema = z.strictObject({
  format: z.literal('as4-once-conformance/1'),
  suite: z.strictObject({ version: z.string(), node: z.string(), requirements: z.number().int() }),
  date: z.string().describe('start of the run, ISO 8601 UTC'),
  durationMs: z.number().int(),
  target: z.strictObject({
    name: z.string(),
    version: z.string().nullable(),
    notes: z.string().nullable(),
    profile: z.string(),
    urls: z.array(z.string()),
    capabilities: z.array(z.string()),
    claims: z.record(z.string(), z.union([z.string(), z.number()])),
    times: z.record(z.string(), z.number()).describe('milliseconds'),
  }),
  strict: z.boolean(),
  ok: z.boolean(),
  totals: z.record(verdict, z.number().int()),
  results: z.array(result),
});

export type Report = z.infer<typeof reportSchema>;
export type ReportResult = Report['results'][number];
export type ReportExchange = ReportResult['exchanges'][number];

/** JSON Schema of the report, as it stands in schemas/. */
export function reportJsonSchema(): unknown {
  return {
    $id: 'https://as4-once.example/schemas/conformance-report.schema.json',
    title: 'Report of as4-once-conformance',
    ...(z.toJSONSchema(reportSchema) as object),
  };
}
