import { z } from 'zod';
import { PROFILES } from '../profile.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Readonly<Record<string, number>> = { b: 1, kb: 1_000, mb: 1_000_000, kib: 1_024, mib: 1_048_576 };

/** `500ms`, `10s`, `2m`, `1h`, `7d`; milliseconds inside. */
const duration = z
  .string()
  .regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, 'a duration such as 500ms, 10s, 2m')
  .transform((text) => {
    const [, value = '0', unit = 's'] = /^([\d.]+)([a-z]+)$/.exec(text) ?? [];
    return Number(value) * (UNITS[unit] ?? 1);
  });

/** `20MB`, `512KiB`; bytes inside. */
const size = z
  .string()
  .regex(/^\d+ ?(B|kB|KB|MB|KiB|MiB)$/i, 'a size such as 20MB, 512KiB')
  .transform((text) => {
    const [, value = '0', unit = 'b'] = /^(\d+) ?([a-z]+)$/i.exec(text) ?? [];
    return Number(value) * (SIZES[unit.toLowerCase()] ?? 1);
  });

const url = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'an http or https address');
const command = z.array(z.string().min(1)).min(1).describe('program and arguments, no shell');
const file = z.string().min(1).describe('a path, relative to the target file');
const party = z.strictObject({ id: z.string().min(1), type: z.string().optional(), role: z.string().optional() });
const identity = z.strictObject({ key: file, cert: file, passphrase: z.string().optional() });

/** The target file. Every field that is not given is a capability that is not declared. */
export const targetSchema = z.strictObject({
  name: z.string().min(1).describe('the product, as the report shall name it'),
  version: z.string().optional(),
  notes: z.string().optional().describe('how it was configured, for the report'),
  url: url.describe('where the target receives'),
  urls: z.array(url).max(7).optional().describe('further addresses of the same cluster'),
  profile: z.enum(PROFILES),
  parties: z.strictObject({ from: party, to: party }),
  service: z.string().optional(),
  serviceType: z.string().optional(),
  action: z.string().optional(),
  agreement: z.string().optional(),
  properties: z.array(z.strictObject({ name: z.string(), value: z.string(), type: z.string().optional() })).optional(),
  keys: z
    .strictObject({
      sign: identity.optional().describe('the suite signs with it; without it messages are unsigned'),
      otherSender: z.strictObject({ party: z.string().min(1), key: file.optional(), cert: file.optional() }).optional(),
      encryptFor: file.optional().describe('certificate for which payloads are encrypted'),
      receiptSigner: file.optional().describe('certificate that signs Receipts'),
      tlsCa: file.optional(),
    })
    .default({}),
  delivery: z
    .union([
      z.strictObject({ folder: file }),
      z.strictObject({
        http: z.strictObject({
          listen: z.string().regex(/^.+:\d+$/, 'host:port'),
          accept: z.number().int().min(200).max(299).default(200),
          refuse: z.number().int().min(400).max(599).default(500),
        }),
      }),
      z.strictObject({ command }),
    ])
    .optional()
    .describe('how deliveries are counted'),
  hooks: z
    .strictObject({
      restart: command.optional(),
      kill: command.optional(),
      backendFail: command.optional(),
      backendSlow: command.optional(),
      backendNormal: command.optional(),
      storeDown: command.optional(),
      storeUp: command.optional(),
      clock: command.optional(),
    })
    .default({}),
  times: z
    .strictObject({
      answer: duration.optional(),
      deliver: duration.optional(),
      quiet: duration.optional(),
      slow: duration.optional(),
      hook: duration.optional(),
      ready: duration.optional(),
      requirement: duration.optional(),
    })
    .default({}),
  accepts: z
    .strictObject({
      unsigned: z.boolean().optional(),
      ping: z.boolean().optional(),
      soap11: z.boolean().optional(),
      bare: z.boolean().optional(),
      uncompressed: z.boolean().optional(),
      payloads: z.boolean().optional(),
      compressed: z.boolean().optional(),
      largest: size.optional(),
    })
    .default({}),
  claims: z
    .strictObject({
      duplicate: z.enum(['identical', 'receipt']).optional(),
      window: duration.optional(),
      afterWindow: z.enum(['deliver']).optional(),
      mismatch: z.enum(['refuse']).optional(),
      otherSender: z.enum(['deliver', 'refuse']).optional(),
      inFlight: z.enum(['wait-or-retry']).optional(),
      failedRetry: z.enum(['deliver']).optional(),
      forgedFirst: z.enum(['harmless']).optional(),
      startElsewhere: z.enum(['refuse', 'honour']).optional(),
      contentEncoding: z.enum(['accept']).optional(),
      storeDown: z.enum(['retryable']).optional(),
    })
    .default({}),
});

export type TargetFile = z.infer<typeof targetSchema>;
