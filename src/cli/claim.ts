import { createHash } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import type { Config } from '../config/config.js';
import { claimFor } from '../delivery/claim.js';
import { categoryOf } from '../edi/describe.js';
import { As4OnceError, ERRORS } from '../errors.js';
import type { Claim, ClaimAnswer, Ledger } from '../ledger/port.js';
import { parseDuration } from '../policy/duration.js';
import { mismatchText } from '../policy/mismatch-text.js';
import { compileRules } from '../policy/select.js';
import { tokenOf } from '../watch/claim-unit.js';
import { openAcks, type StoredAck } from '../watch/stored-acks.js';
import { readContents, type Reading, type Unit } from '../watch/units.js';
import { noProcess, writeToken } from './claim-token.js';
import { EXIT, type Io } from './io.js';
import { configured, withLedger } from './records.js';

const HELP = `as4-once claim: ask, from a pipeline of your own, whether a file was processed before

Usage: as4-once claim FILE [--for 15m] [--ack FILE] [--config FILE] [--json]

FILE holds EDIFACT, X12 or SBDH; scope and policy are those of the configuration's watch: entry, or route, of that
protocol. For a first copy a token is printed: process the file, then

  as4-once settle --token TOKEN [--ack FILE]                  it was processed (and acknowledged with FILE)
  as4-once release --token TOKEN --outcome rejected           it was not; the next copy is a first one
  as4-once release --token TOKEN --outcome uncertain          nobody knows; an operator decides

Nothing else keeps the claim: without either it ends after --for (default 15m) and counts as uncertain. For a repetition
the stored acknowledgements are printed, or written to --ack FILE byte for byte.

Exit codes: 0 first copy · 1 some of its messages are repetitions and some not · 2 wrong command line or configuration
            10 repetition · 11 same number, other content · 12 in work right now · 20 cannot be read · 75 ledger not reached

Example: as4-once claim orders.edi --config edi.yaml && process orders.edi
`;

/** Exit codes of its own, beside those of every command. */
const FOUND = { first: EXIT.ok, mixed: EXIT.no, duplicate: 10, mismatch: 11, inFlight: 12, invalid: 20 } as const;
type FoundName = keyof typeof FOUND;

export async function claim(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: { config: { type: 'string' }, for: { type: 'string' }, ack: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new As4OnceError('USAGE', 'claim needs one FILE');
  const leaseMs = parseDuration(values.for ?? '15m');
  const config = configured(values.config, io);
  let units: readonly Unit[];
  let reading: Reading;
  try {
    reading = await placeOf(config, file);
    ({ units } = await readContents(reading, file));
  } catch (error) {
    if (!(error instanceof As4OnceError) || ERRORS[error.code].status !== 400) throw error;
    return said(io, values.json === true, 'invalid', { code: error.code, detail: error.detail }, `${error.message}\n`);
  }
  return await withLedger(config, async (ledger) => {
    const claims = new Claims(config, reading, ledger, leaseMs);
    const { found, keys, answers, why } = await claims.all(units);
    const acks = answers.flatMap(({ record }) => openAcks(record.reply)?.acks ?? []);
    if (found === 'first') {
      const token = writeToken({ token: claims.token, keys });
      return said(io, values.json === true, found, { token }, `${token}\n`);
    }
    if (found === 'duplicate' && values.ack !== undefined) writeFileSync(values.ack, Buffer.concat(acks.map(bytesOf)));
    const first = answers[0]?.record;
    const detail = first === undefined ? {} : { firstSeen: new Date(first.born).toISOString(), reference: first.reference, ...(why === undefined ? {} : { why }) };
    return said(io, values.json === true, found, { ...detail, acknowledgements: found === 'duplicate' ? acks : [] }, text(found, detail, acks));
  });
}

/** Where the configuration speaks of such files. */
async function placeOf(config: Config, file: string): Promise<Reading> {
  const category = categoryOf(await beginning(file));
  if (category === 'unknown') throw new As4OnceError('EDI_BROKEN', `${file} begins neither with UNA, UNB, ISA nor with XML`);
  const place = [...config.watch, ...config.routes].find(({ protocol }) => protocol === category);
  if (place === undefined) {
    throw new As4OnceError('CONFIG_INVALID', `the configuration has neither a watch: entry nor a route of protocol ${category}`);
  }
  return { config: { protocol: category, scope: place.scope }, rules: compileRules(place.rules), limits: config.limits };
}

async function beginning(file: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const part of createReadStream(file, { end: 1_023 })) parts.push(part as Buffer);
  } catch (error) {
    throw new As4OnceError('USAGE', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
  return Buffer.concat(parts);
}

class Claims {
  readonly token = createHash('sha256').update(systemClock.id()).digest('hex').slice(0, 24);
  readonly #config: Config;
  readonly #reading: Reading;
  readonly #ledger: Ledger;
  readonly #leaseMs: number;

  constructor(config: Config, reading: Reading, ledger: Ledger, leaseMs: number) {
    this.#config = config;
    this.#reading = reading;
    this.#ledger = ledger;
    this.#leaseMs = leaseMs;
  }

  /** All messages of the file, in the order of their keys; all or none stay claimed. */
  async all(units: readonly Unit[]): Promise<{ readonly found: FoundName; readonly keys: readonly string[]; readonly answers: readonly ClaimAnswer[]; readonly why?: string }> {
    const byKey = new Map(units.map((unit) => [unit.key, unit]));
    const made: { claim: Claim; answer: ClaimAnswer }[] = [];
    for (const key of [...byKey.keys()].sort()) {
      const made1 = this.#claimOf(byKey.get(key) as Unit, key);
      made.push({ claim: made1, answer: await this.#ledger.claim(made1) });
    }
    const found = foundIn(made.map(({ answer }) => answer));
    if (found !== 'first') {
      for (const { claim: one, answer } of made) {
        if (answer.kind === 'claimed') {
          await this.#ledger.release({ key: one.key, token: one.token, outcome: 'rejected', reason: found, hold: false, counts: false, openKeptMs: one.openKeptMs, claim: one });
        }
      }
    }
    const refused = made.find(({ answer }) => answer.kind === 'mismatch');
    const others = made.map(({ answer }) => answer).filter(({ kind }) => kind !== 'claimed');
    return {
      found, keys: made.map(({ claim: one }) => one.key),
      answers: refused === undefined ? others : [refused.answer, ...others.filter((one) => one !== refused.answer)],
      ...(refused === undefined ? {} : { why: whyOf(refused) }),
    };
  }

  #claimOf({ message, rule }: Unit, key: string): Claim {
    const made = claimFor({
      key, message, rule, times: this.#config.times, scope: this.#reading.config.scope, owner: noProcess(hostname()), token: tokenOf(this, key), take: true, remembersMs: 0,
    });
    return { ...made, leaseMs: this.#leaseMs, uncertain: rule.uncertain === 'redeliver' ? 'redeliver' : 'hold' };
  }
}

function whyOf({ claim: one, answer: { record } }: { readonly claim: Claim; readonly answer: ClaimAnswer }): string {
  return mismatchText(one.protocol, record.sender !== one.sender, record.born);
}

function foundIn(answers: readonly ClaimAnswer[]): FoundName {
  const kinds = new Set(answers.map(({ kind }) => kind));
  if (kinds.has('mismatch') || kinds.has('held')) return 'mismatch';
  if (kinds.has('inFlight')) return 'inFlight';
  if (!kinds.has('claimed')) return 'duplicate';
  return kinds.size === 1 ? 'first' : 'mixed';
}

function said(io: Io, json: boolean, found: FoundName, fields: object, plain: string): number {
  if (json) io.out(`${JSON.stringify({ found, ...fields })}\n`);
  else if (found === 'first' || found === 'duplicate') io.out(plain);
  else io.err(plain);
  return FOUND[found];
}

function text(found: FoundName, detail: { readonly why?: string }, acks: readonly StoredAck[]): string {
  if (found === 'duplicate') return Buffer.concat(acks.map(bytesOf)).toString('utf8');
  const why = { mismatch: 'the number was used for other content, or waits for an operator', inFlight: 'a copy is in work', mixed: 'some messages of the file are repetitions and some are not; as4-once watch can cut them' };
  const said = detail.why ?? (found in why ? why[found as keyof typeof why] : found);
  return `as4-once: ${said} ${JSON.stringify(detail)}\n`;
}

function bytesOf({ bytes }: StoredAck): Buffer {
  return Buffer.from(bytes, 'base64');
}
