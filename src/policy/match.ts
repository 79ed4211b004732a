import type { Facts, ProtocolName } from '../message.js';
import { bareDocumentType, documentType } from './peppol.js';

/** What a partner rule may be matched on. */
export const CRITERIA = ['from', 'to', 'service', 'action', 'documentType', 'c1', 'c4', 'agreement', 'mpc'] as const;
export type Criterion = (typeof CRITERIA)[number];

/** A message matches where each criterion that is given names one of its values; any value of a list will do. */
export type Match = { readonly [K in Criterion]?: readonly string[] | undefined };

/** An absent mpc attribute names the default MPC (ebMS 3.0 Core 3.4.1). */
export const DEFAULT_MPC = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/defaultMPC';

/** What a rule is selected by: a message, or as much of it as its head tells. */
export interface Matchable {
  readonly protocol: ProtocolName;
  readonly facts: Facts;
}

/** The message's values for a criterion, in the form in which `wanted` values are compared: usually none or one. */
export function valuesOf({ protocol, facts }: Matchable, criterion: Criterion): readonly string[] {
  switch (criterion) {
    case 'from':
    case 'to':
      return facts[criterion].map((party) => party.value);
    case 'documentType':
      return some(documentType(facts));
    case 'mpc':
      return some(facts.mpc ?? (protocol === 'as4' ? DEFAULT_MPC : undefined));
    case 'c1':
    case 'c4':
      return some(facts[criterion]).map(folded);
    case 'service':
    case 'action':
    case 'agreement':
      return some(facts[criterion]);
  }
}

/**
 * A configured value, brought into the form of `valuesOf`. Comparison is exact, with two exceptions: participant
 * identifiers (C1, C4) are compared without regard to case (Peppol policy for use of identifiers), and a document type
 * may be written with or without its scheme.
 */
export function wanted(criterion: Criterion, value: string): string {
  if (criterion === 'c1' || criterion === 'c4') return folded(value);
  return criterion === 'documentType' ? bareDocumentType(value) : value;
}

function some(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

function folded(value: string): string {
  return value.toLowerCase();
}
