import type { Config, RouteConfig, WatchConfig } from '../config/config.js';
import { As4OnceError } from '../errors.js';
import type { Note } from '../ledger/port.js';
import type { Decision, LedgerRecord } from '../ledger/record.js';
import { compileRules, type RuleSet } from '../policy/select.js';
import type { OperatorReceipt } from '../receipt/receipt-file.js';
import type { PartyTypes } from './party-types.js';

/** What one line of an import says: a record to adopt, a note of a backup, or why there is neither. */
export type Said =
  | { readonly kind: 'record'; readonly record: LedgerRecord }
  | { readonly kind: 'note'; readonly note: Note }
  /** Nothing to import: a log line about something else, the frame of a backup. */
  | { readonly kind: 'other' }
  | { readonly kind: 'bad'; readonly why: string };

/** One way in: what its records are keyed and kept by. */
export interface Place {
  readonly route: RouteConfig | WatchConfig;
  readonly rules: RuleSet;
}

export interface ImportContext {
  readonly places: readonly Place[];
  /** Where plain lines belong. */
  readonly place: Place;
  readonly types: PartyTypes;
  readonly decision: Decision;
  /** Reads a Receipt by the name that a line gives it. @throws As4OnceError */
  receipt(name: string): OperatorReceipt;
}

/** The place of plain lines: the route of that path or name, or the only one there is. @throws As4OnceError USAGE */
export function placesOf(
  config: Config,
  named: string | undefined,
): { readonly places: readonly Place[]; readonly place: Place } {
  const places = [...config.routes, ...config.watch].map((route): Place => ({
    route,
    rules: compileRules(route.rules),
  }));
  const fitting =
    named === undefined
      ? places
      : places.filter(({ route }) => route.name === named || ('path' in route && route.path === named));
  const [place] = fitting;
  if (place === undefined) throw new As4OnceError('USAGE', `no route ${named ?? ''} in the configuration`);
  const keyed = new Set(fitting.map(({ route }) => `${route.protocol} ${route.scope}`));
  if (keyed.size > 1)
    throw new As4OnceError(
      'USAGE',
      `several routes; name one with --route: ${places.map(({ route }) => route.name).join(', ')}`,
    );
  return { places, place };
}

/** Why a line cannot be used. */
export const bad = (why: string): As4OnceError => new As4OnceError('USAGE', why);
