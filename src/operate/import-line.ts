import { As4OnceError } from '../errors.js';
import type { Note } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import { recordFromJson } from '../ledger/schema.js';
import type { Message, Party } from '../message.js';
import { duplicateKey, needsContent, partiesText } from '../policy/key.js';
import { selectRule } from '../policy/select.js';
import { bad, type ImportContext, type Said } from './import-context.js';
import { fromLogLine } from './import-log.js';

export function readLine(text: string, context: ImportContext): Said {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      return { kind: 'bad', why: 'not a JSON object' };
    const fields = json as Readonly<Record<string, unknown>>;
    if (typeof fields['event'] === 'string') return fromLogLine(fields, context);
    if ('record' in fields) return { kind: 'record', record: recordFromJson(fields['record']) };
    if ('note' in fields) return { kind: 'note', note: fields['note'] as Note };
    if ('backup' in fields || 'end' in fields) return { kind: 'other' };
    return { kind: 'record', record: plainRecord(fields, context) };
  } catch (error) {
    if (error instanceof As4OnceError) return { kind: 'bad', why: error.detail };
    return {
      kind: 'bad',
      why: error instanceof SyntaxError ? 'not JSON' : `not readable: ${(error as Error).message.slice(0, 200)}`,
    };
  }
}

/** `{messageId, from, firstSeen, receipt?}`; also `fromType`, `to`, `type`. */
function plainRecord(fields: Readonly<Record<string, unknown>>, context: ImportContext): LedgerRecord {
  const {
    place: { route, rules },
    types,
    decision,
  } = context;
  const reference = textOf(fields, 'messageId');
  const firstSeen = timeOf(fields['firstSeen']);
  const given = partiesOf(fields['from'], 'from', fields['fromType']);
  if (given.length === 0) throw bad('from is missing');
  const from = given.map((party) => types.typed(party));
  const to = partiesOf(fields['to'], 'to', fields['toType']).map((party) => types.typed(party));
  const { protocol, scope } = route;
  const type = fields['type'] === undefined ? {} : { type: textOf(fields, 'type') };
  const receipt = fields['receipt'] === undefined ? undefined : context.receipt(textOf(fields, 'receipt'));
  if (receipt !== undefined && receipt.refToMessageId !== reference) {
    throw bad(`its receipt is for ${JSON.stringify(receipt.refToMessageId)}`);
  }
  const message: Omit<Message, 'fingerprint'> & { fingerprint?: string } = {
    protocol,
    reference,
    ...type,
    signed: false,
    facts: { from, to },
    ...(receipt?.fingerprint === undefined ? {} : { fingerprint: receipt.fingerprint }),
  };
  const rule = selectRule(rules, message);
  if (needsContent(rule.key) && message.fingerprint === undefined)
    throw bad(`key ${rule.key} needs the content, which only a Receipt tells`);
  if (rule.key.includes('+datetime')) throw bad(`key ${rule.key} needs the date of the interchange`);
  if (rule.key.includes('+recipient') && to.length === 0) throw bad(`key ${rule.key} needs to`);
  const guessed = from.some((party, i) => party.type !== given[i]?.type);
  return {
    format: 1,
    version: 0,
    key: duplicateKey(message, rule.key, scope),
    protocol,
    scope,
    reference,
    ...type,
    rule: rule.name,
    state: receipt === undefined ? 'known' : 'settled',
    born: firstSeen,
    window: rule.window,
    late: rule.late,
    // what was only guessed must not tell two senders apart
    sender: guessed ? '' : partiesText(from),
    fingerprint: receipt?.fingerprint ?? '',
    facts: { from, to },
    attempts: [],
    rejections: 0,
    copies: 0,
    lastSeen: firstSeen,
    decisions: [decision],
    ...(receipt === undefined ? {} : { reply: receipt.reply }),
  };
}

function textOf(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw bad(`${name} is ${value === undefined ? 'missing' : 'no text'}`);
  if (value.length > 1_024) throw bad(`${name} is longer than 1,024 characters`);
  return value;
}

/** ISO 8601 or epoch ms. */
function timeOf(value: unknown): number {
  const ms =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value)
        ? Date.parse(value)
        : NaN;
  if (Number.isSafeInteger(ms) && ms > 0) return ms;
  throw bad(
    `firstSeen is ${value === undefined ? 'missing' : 'no time (write 2026-12-01T13:00:00Z, or epoch milliseconds)'}`,
  );
}

/** `"P"`, `{value, type}`, or a list of them. */
function partiesOf(value: unknown, name: string, type: unknown): readonly Party[] {
  const list: unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value];
  return list.map((one): Party => {
    const party = typeof one === 'string' ? { value: one, type } : ((one ?? {}) as { value?: unknown; type?: unknown });
    if (typeof party.value !== 'string' || party.value === '' || party.value.length > 1_024)
      throw bad(`${name} is no party`);
    if (party.type !== undefined && typeof party.type !== 'string') throw bad(`${name} has a type that is no text`);
    return party.type === undefined ? { value: party.value } : { value: party.value, type: party.type };
  });
}
