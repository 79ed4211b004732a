import type { Ledger } from '../ledger/port.js';
import type { Party } from '../message.js';

/** The type of every PartyId in Peppol, whose access points have such names (OpenPeppol AS4 profile 2.0, 4.4). */
const PEPPOL = { name: /^P[A-Z]{2}\d{6}$/, type: 'urn:fdc:peppol.eu:2017:identifiers:ap' };
/** Records looked at to learn how parties write their ids. */
const SAMPLE = 50_000;

/**
 * A PartyId has a type, which is part of the key, and lists of ids from elsewhere leave it out. It is taken from the
 * command line, from what the ledger has seen of that party, or from the form of the name, and the report says which.
 */
export class PartyTypes {
  readonly #named: string | undefined;
  readonly #learnt: ReadonlyMap<string, string>;
  /** What was assumed: value to type and why. */
  readonly assumed = new Map<string, { readonly type: string | undefined; readonly why: string }>();

  constructor(named: string | undefined, learnt: ReadonlyMap<string, string>) {
    this.#named = named;
    this.#learnt = learnt;
  }

  typed(party: Party): Party {
    if (party.type !== undefined) return party.type === '' ? { value: party.value } : party;
    const { value } = party;
    const found = this.assumed.get(value) ?? this.#assume(value);
    if (this.assumed.size < 1_000) this.assumed.set(value, found);
    return found.type === undefined || found.type === '' ? { value } : { value, type: found.type };
  }

  #assume(value: string): { type: string | undefined; why: string } {
    if (this.#named !== undefined) return { type: this.#named, why: 'from --from-type' };
    const learnt = this.#learnt.get(value);
    if (learnt !== undefined) return { type: learnt, why: 'as the ledger has seen it' };
    if (PEPPOL.name.test(value)) return { type: PEPPOL.type, why: 'as Peppol access points are named' };
    return { type: undefined, why: 'none known; give --from-type if its messages carry one' };
  }
}

/** How the parties of standing records write their ids. */
export async function learnTypes(ledger: Pick<Ledger, 'iterate'>): Promise<ReadonlyMap<string, string>> {
  const types = new Map<string, string>();
  let looked = 0;
  for await (const { record } of ledger.iterate()) {
    for (const { value, type } of [...record.facts.from, ...record.facts.to])
      if (type !== undefined) types.set(value, type);
    looked += 1;
    if (looked >= SAMPLE) break;
  }
  return types;
}
