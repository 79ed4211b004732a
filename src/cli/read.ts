import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { keysOf } from '../compose-keys.js';
import { memoryOf } from '../config/access-point-of.js';
import { builtInRule } from '../config/rules.js';
import type { Config, RouteConfig } from '../config/config.js';
import { loadConfig } from '../config/load.js';
import { claimFor } from '../delivery/claim.js';
import { inspect } from '../ebms/describe.js';
import { categoryOf, describeEdi } from '../edi/describe.js';
import { As4OnceError } from '../errors.js';
import { thisProcess } from '../ledger/owner.js';
import { transition } from '../ledger/transition.js';
import { LIMITS, TIMES } from '../limits.js';
import type { Message } from '../message.js';
import { openLedger } from '../open-ledger.js';
import { formatDuration } from '../policy/duration.js';
import type { Rule } from '../policy/rule.js';
import { compileRules, selectRule } from '../policy/select.js';
import { EXIT, type Io } from './io.js';

const HELP = `as4-once read: show what the walk sees in a stored message

Usage: as4-once read FILE [--content-type T] [--config FILE] [--json]

FILE is an AS4 message (a MIME package or a bare SOAP envelope, with or without its HTTP head), an EDIFACT or X12
interchange, or an SBDH document. Without --content-type a package's boundary is found from its first line.
With --config the rule of the configuration is applied and its ledger is asked (read-only) what would happen now:
claim, redeliver, late, wait, replay, mismatch, held, known.

Exit codes: 0 read · 1 would be refused · 2 wrong command line or configuration · 75 the ledger cannot be reached

Examples: as4-once read captured.mime --content-type 'multipart/related; boundary="b"'
          as4-once read captured.mime --config front.yaml --json
`;

/** What `read --config` says a copy of this message would meet now. */
export type Foretold = 'claim' | 'redeliver' | 'late' | 'wait' | 'replay' | 'mismatch' | 'held' | 'known' | 'pass' | 'refuse';

export async function read(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: { 'content-type': { type: 'string' }, config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new As4OnceError('USAGE', 'read needs one FILE');
  const bytes = readStored(file);
  const config = values.config === undefined ? undefined : loadConfig(values.config, { env: io.env });
  const shown = isAs4(bytes, values['content-type']) ? await readAs4(bytes, values['content-type'], config) : describeEdi(bytes);
  io.out(values.json === true ? `${JSON.stringify(shown, undefined, 2)}\n` : text(shown));
  return shown.verdict === 'reject' ? EXIT.no : EXIT.ok;
}

async function readAs4(bytes: Uint8Array, contentType: string | undefined, config: Config | undefined): Promise<Shown> {
  const { description, message, bundled } = inspect(bytes, contentType, config?.limits ?? LIMITS);
  if (description.verdict === 'reject') return { ...description, now: 'refuse' };
  if (message === undefined) return { ...description, now: 'pass' };
  const route = config?.routes.find((candidate) => candidate.protocol === 'as4');
  const { rule, scope } = ruleFor(message, route);
  const keys = keysOf(message, rule, scope);
  const policy = {
    key: keys.key,
    keyParts: keyParts(message, rule, scope),
    rule: rule.name,
    window: formatDuration(rule.window),
    windowMs: rule.window,
  };
  const refused = (bundled && rule.bundle === 'refuse') || (!message.signed && rule.unsigned === 'refuse');
  const now = refused ? { now: 'refuse' as const } : config === undefined ? {} : await foretell(message, rule, config, route);
  return { ...description, ...policy, ...now };
}

function ruleFor(message: Message, route: RouteConfig | undefined): { rule: Rule; scope: string } {
  const rules = route?.rules ?? { defaults: builtInRule(message.protocol, TIMES.wait), partners: [] };
  return { rule: selectRule(compileRules(rules), message), scope: route?.scope ?? 'default' };
}

function keyParts({ protocol, reference, facts }: Message, rule: Rule, scope: string): Record<string, unknown> {
  return {
    granularity: rule.key, protocol, scope, reference,
    ...(rule.key.includes('+sender') ? { sender: facts.from } : {}),
    ...(rule.key.includes('+recipient') ? { recipient: facts.to } : {}),
  };
}

/** Judges the standing record as a claim would, by the same transition, and writes nothing. */
async function foretell(message: Message, rule: Rule, config: Config, route: RouteConfig | undefined): Promise<{ now: Foretold; record?: object }> {
  const ledger = await openLedger(config, undefined, true);
  try {
    const scope = route?.scope ?? 'default';
    const memory = route === undefined ? { remembersMs: 0, persistent: true } : memoryOf(route);
    const { key } = keysOf(message, rule, scope);
    const found = await ledger.find(key);
    const claim = claimFor({ key, message, rule, scope, times: config.times, owner: thisProcess('read'), token: systemClock.id(), take: false, ...memory });
    const at = { now: found?.now ?? systemClock.now(), contactMs: Infinity, isDead: () => false };
    const { answer } = transition(found?.record, 'claim', claim, at);
    const record = found === undefined ? {} : { record: { state: found.record.state, firstSeen: iso(found.record.born), copies: found.record.copies, attempts: found.record.attempts.length } };
    return { now: answer.kind === 'claimed' ? GRANTED[answer.mark] : MET[answer.kind], ...record };
  } finally {
    await ledger.close();
  }
}

const GRANTED = { first: 'claim', redelivery: 'redeliver', late: 'late' } as const;
const MET = { inFlight: 'wait', settled: 'replay', mismatch: 'mismatch', held: 'held', known: 'known' } as const;

interface Shown {
  readonly verdict: 'parse' | 'reject';
  readonly [field: string]: unknown;
}

/** SOAP, a bare eb:Messaging and MIME are AS4; what begins with other XML, UNA, UNB or ISA is EDI. */
function isAs4(bytes: Uint8Array, contentType: string | undefined): boolean {
  if (contentType !== undefined) return true;
  const category = categoryOf(bytes);
  if (category === 'edifact' || category === 'x12') return false;
  return category === 'unknown' || /<(?:[\w.-]+:)?(?:Envelope|Messaging)[\s>]/.test(Buffer.from(bytes.subarray(0, 4096)).toString('latin1'));
}

function readStored(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new As4OnceError('USAGE', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

/** One field a line, nested ones indented: for a person with a terminal. */
function text(value: object, indent = ''): string {
  let out = '';
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === 'object' && field !== null) out += `${indent}${name}:\n${text(field as object, `${indent}  `)}`;
    else out += `${indent}${name}: ${printable(String(field))}\n`;
  }
  return out;
}

/** A sender's text must not steer the operator's terminal. */
function printable(field: string): string {
  return field.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
