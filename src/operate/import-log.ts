import type { Attempt, LedgerRecord } from '../ledger/record.js';
import type { ProtocolName } from '../message.js';
import { referencePrefix } from '../policy/key.js';
import { selectRule } from '../policy/select.js';
import { bad, type ImportContext, type Place, type Said } from './import-context.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A line of our own log: after a restore, or a bypass, it tells which messages the access point took. The Receipt is
 * not in it, so what was accepted becomes `known`; an attempt without a certain outcome stays one.
 */
export function fromLogLine(line: Fields, context: ImportContext): Said {
  const event = line['event'];
  if (event !== 'exchange' && event !== 'lateOutcome') return { kind: 'other' };
  const { key, messageId, outcome, answer } = line;
  const accepted = outcome === 'accepted' || answer === 'replay' || answer === 'waited';
  if (!accepted && outcome !== 'uncertain') return { kind: 'other' };
  if (typeof key !== 'string' || typeof messageId !== 'string') return { kind: 'other' };
  const { route, rules } = placeOf(context.places, line, key, messageId);
  const at = Date.parse(String(line['time']));
  if (Number.isNaN(at)) throw bad('time is missing');
  const seen = typeof line['firstSeen'] === 'string' ? Date.parse(line['firstSeen']) : NaN;
  const born = Number.isNaN(seen) ? at - (typeof line['ms'] === 'number' ? Math.round(line['ms']) : 0) : seen;
  const parties = (name: string) =>
    typeof line[name] === 'string' && line[name] !== ''
      ? line[name].split(',').map((value) => context.types.typed({ value }))
      : [];
  const facts = {
    from: parties('from'),
    to: parties('to'),
    ...Object.fromEntries(
      ['c1', 'c4', 'service', 'action', 'conversationId'].flatMap((name) =>
        typeof line[name] === 'string' ? [[name, line[name]]] : [],
      ),
    ),
  };
  const rule = selectRule(rules, { protocol: route.protocol, facts });
  const record: LedgerRecord = {
    format: 1,
    version: 0,
    key,
    protocol: route.protocol,
    scope: route.scope,
    reference: messageId,
    rule: rule.name,
    state: 'known',
    born,
    window: rule.window,
    late: rule.late,
    sender: '',
    fingerprint: '',
    facts,
    attempts: [],
    rejections: 0,
    copies: 0,
    lastSeen: born,
    decisions: [context.decision],
  };
  if (accepted) return { kind: 'record', record };
  const attempt: Attempt = {
    token: `log ${at}`,
    fingerprint: '',
    began: born,
    ended: at,
    outcome: 'uncertain',
    node: typeof line['node'] === 'string' ? line['node'] : '',
    reason: typeof line['reason'] === 'string' ? line['reason'] : 'imported',
  };
  return { kind: 'record', record: { ...record, state: 'open', attempts: [attempt], firstUncertain: born } };
}

/** Whose key it is. A key holds protocol, scope and reference, so a line of another configuration does not pass. */
function placeOf(places: readonly Place[], line: Fields, key: string, messageId: string): Place {
  const fits = ({ route: { protocol, scope } }: Place): boolean =>
    key.startsWith(`${referencePrefix(protocol, scope, messageId)}:`);
  // a reference with a type is keyed by both, and the log does not hold the type
  const typed = ({ route }: Place): boolean =>
    route.protocol === ('reference' satisfies ProtocolName) && route.name === line['route'];
  const place = places.find(fits) ?? places.find(typed);
  if (place === undefined || !/^[0-9a-f]{64}:[\w-]{43}$/.test(key))
    throw bad('its key does not belong to a route of this configuration');
  return place;
}
