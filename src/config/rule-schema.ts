import { z } from 'zod';
import { CRITERIA, type Criterion } from '../policy/match.js';
import type { Granularity } from '../policy/rule.js';
import { securitySchema } from './security-schema.js';
import { count, duration, oneOrMore, section, text, window } from './values.js';

const BASES = ['reference', 'reference+sender', 'reference+sender+recipient'] as const;
const GRANULARITIES = BASES.flatMap((base) =>
  (['', '+content', '+datetime', '+content+datetime'] as const).map((rest): Granularity => `${base}${rest}`));

const granularity = z.enum(GRANULARITIES as [Granularity, ...Granularity[]]).meta({ id: 'granularity' });
const status = z.union([z.string(), z.number()]).transform(String)
  .pipe(z.string().regex(/^[1-5](\d\d|xx)$/i, { error: 'must be a status such as 200 or 2xx' }))
  .meta({
    id: 'status',
    as: { anyOf: [{ type: 'string', pattern: '^[1-5](\\d\\d|xx)$' }, { type: 'integer', minimum: 100, maximum: 599 }] },
  });

const fieldName = text.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'must be the name of a header field' });

/** Everything that `defaults`, a route or a partner may say. What is left out stays as the next wider level says. */
export const ruleFields = {
  window: window.optional().describe('How long a message is remembered, from its first copy on. Default 90d.'),
  late: duration.optional()
    .describe('How much longer than the window a record is kept, only to recognise and label a late copy. Default 0.'),
  key: granularity.optional()
    .describe('What makes two messages the same. Default reference+sender; for EDI reference+sender+recipient.'),
  previousKey: granularity.optional()
    .describe('The key before a change; honoured beside the new one. Leave it in for one window.'),
  mode: z.enum(['eliminate', 'detect-only', 'shadow']).optional()
    .describe('eliminate: copies never go on. detect-only: copies go on, marked. shadow: everything goes on unmarked, '
      + 'and the report says what eliminate would have done.'),
  mismatch: z.enum(['refuse', 'replay', 'deliver-flagged']).optional()
    .describe('Same key, other content: refuse with an error, replay the first Receipt, or deliver it once, marked.'),
  otherSender: z.enum(['refuse', 'deliver']).optional()
    .describe('key: reference, and the same one from another sender: refuse, or deliver it once under its own key.'),
  uncertain: z.enum(['auto', 'redeliver', 'hold']).optional()
    .describe('The next copy after an attempt without a certain outcome. auto: redeliver while the access point itself '
      + 'remembers the message, hold afterwards.'),
  upstreamDuplicate: z.enum(['pass', 'hold']).optional()
    .describe('The access point calls our first attempt a repetition: pass its answer on, or hold for an operator.'),
  bundle: z.enum(['refuse', 'forward']).optional().describe('A UserMessage together with a signal in one envelope.'),
  unsigned: z.enum(['accept', 'refuse']).optional().describe('A message without a signature.'),
  known: z.enum(['pass', 'hold']).optional()
    .describe('A message that was imported without its Receipt: pass it on, marked, or hold it.'),
  replyPattern: z.enum(['response', 'callback']).optional()
    .describe('Where the partner gets its Receipt: in the response, or later by callback (needs mode: detect-only).'),
  resend: z.enum(['auto', 'flag', 'off']).optional()
    .describe('The same signed content under a new MessageId: mark it. auto: where the message is Peppol.'),
  sbdh: z.enum(['flag', 'suppress', 'off']).optional()
    .describe('Role endpoint: an SBDH InstanceIdentifier that was delivered under another MessageId. What follows where nobody knows whether it was: uncertain.'),
  verify: z.enum(['none', 'signature']).optional()
    .describe('Role front: check the signature before anything is claimed. Needs security.trust.'),
  wait: duration.optional().describe('How long a copy waits for the copy in progress. Default times.wait.'),
  accept: oneOrMore(status).optional().describe('Protocol reference: the statuses that mean accepted. Default 2xx.'),
  inFlight: count(409, 503).refine((value) => value === 409 || value === 503, { error: 'must be 409 or 503' })
    .optional()
    .describe('Protocol reference: the status while the first copy is in work, after the wait. Default 503.'),
  replyHeaders: z.array(fieldName).optional()
    .describe('Further header fields that are stored and replayed with a reply, for example AS2-From for an MDN.'),
  checks: z.enum(['warn', 'strict']).optional()
    .describe('EDI counts and references that do not agree: a warning, or a refusal.'),
  mixed: z.enum(['cut', 'split', 'hold']).optional()
    .describe('A file of several interchanges, some of them repetitions: cut them out, split the file, or hold it.'),
  ack: z.enum(['replay', 'none']).optional()
    .describe('Whether a repetition puts the stored acknowledgement out again.'),
  payloadKeys: z.array(z.enum(['sbdh', 'edifact', 'x12', 'ubl'])).optional()
    .describe('Business keys that an AS4 message claims beside its MessageId, read from its payload.'),
  keepHeader: duration.optional()
    .describe('How long the original SOAP part is kept for evidence. Default 0: not at all.'),
};

export const ruleSchema = section(ruleFields).meta({ id: 'rule' });

const CRITERION_TEXTS: Readonly<Record<Criterion, string>> = {
  from: 'From PartyId, UNB sender or ISA06.',
  to: 'To PartyId, UNB recipient or ISA08.',
  service: 'eb:Service.',
  action: 'eb:Action.',
  documentType: 'Peppol document type, with or without its scheme.',
  c1: 'originalSender; compared without regard to case.',
  c4: 'finalRecipient; compared without regard to case.',
  agreement: 'eb:AgreementRef.',
  mpc: 'Message partition channel; a message without one has the default MPC.',
};

const criterion = (name: Criterion) => oneOrMore(text).optional()
  .describe(`${CRITERION_TEXTS[name]} One value or a list.`);

export const matchSchema = section({
  from: criterion('from'),
  to: criterion('to'),
  service: criterion('service'),
  action: criterion('action'),
  documentType: criterion('documentType'),
  c1: criterion('c1'),
  c4: criterion('c4'),
  agreement: criterion('agreement'),
  mpc: criterion('mpc'),
}).refine((match) => CRITERIA.some((name) => match[name] !== undefined), {
  error: `needs at least one of ${CRITERIA.join(', ')}`,
}).meta({ id: 'match' });

export const partnerSchema = section({
  name: text.optional().describe('Name for logs and metrics. Default: the value it is matched on.'),
  match: matchSchema.describe('All criteria given must fit; the rule with most criteria wins.'),
  ...ruleFields,
  security: securitySchema.optional().describe('What of the security differs for this partner.'),
}).meta({ id: 'partner' });

export type RuleInput = z.output<typeof ruleSchema>;
export type PartnerInput = z.output<typeof partnerSchema>;
