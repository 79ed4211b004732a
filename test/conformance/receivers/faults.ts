import { REQUIREMENTS } from '../../../conformance/registry.js';
import { BASE, runSuite } from '../../../conformance/run/runner.js';
import type { Requirement } from '../../../conformance/run/requirement.js';
import type { GoodReceiver, ReceiverOptions } from './good.js';
import { stage } from './target.js';
import type { Cast } from './target.js';

export interface Fault {
  /** Every requirement that fails or warns. */
  readonly caughtBy: readonly string[];
  /** The fault has to do with signatures. */
  readonly signed?: true;
  readonly jobs?: number;
  readonly quiet?: number;
}

/**
 * Each receiver does one thing wrong. The requirements that were made for it have to fail (or warn), and no others. A
 * fault that has to do with signatures is looked for among the requirements that need them; every other one in the
 * whole
 * suite, unsigned, which is faster.
 */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'accepts-doctypes': { caughtBy: ['soap12/5/1'] },
  'acknowledges-wrong-digests': { signed: true, caughtBy: ['as4/5.1.8/3'] },
  'burns-half-requests': { caughtBy: ['rfc9112/8/2', 'rfc9112/8/3', 'rfc9112/8/4', 'rfc9112/8/5'] },
  'burns-ids': { caughtBy: ['once/failure/1', 'once/flight/2'] },
  'calls-it-duplicate': { caughtBy: ['once/replay/1', 'once/flight/1'] },
  'checks-then-acts': { caughtBy: ['as4/3.2/15', 'as4/3.2/16', 'as4/3.2/17', 'as4/3.2/18', 'as4/3.2/19'] },
  'claims-before-verifying': { signed: true, caughtBy: ['once/forged/1', 'once/forged/2', 'once/forged/3'] },
  'cuts-at-comments': { caughtBy: ['xml/2.4/2'] },
  'delivers-every-copy': { caughtBy: ['as4/3.2/1', 'ta/cp-ta07/1', 'once/bounds/1'] },
  'delivers-late-again': { quiet: 300, caughtBy: ['as4/3.2/1', 'ta/cp-ta07/1', 'once/bounds/1'] },
  'delivers-pings': { caughtBy: ['ebms/5.2.2.8/1'] },
  'delivers-unlisted-parts': { caughtBy: ['ebms/5.1.5/2'] },
  'does-not-sign': { signed: true, caughtBy: ['as4/5.1.8/2'] },
  'errors-in-flight': { caughtBy: ['once/flight/1', 'once/replay/6'] },
  'folds-case': { caughtBy: ['ebms/5.2.2.1/3'] },
  'forgets-early': { caughtBy: ['as4/3.2/12'] },
  'forgets-on-restart': { caughtBy: ['as4/3.2/10', 'as4/3.2/11'] },
  'keys-on-bytes': {
    caughtBy: ['xml/2.4/2', 'as4/3.2/5', 'as4/3.2/7', 'as4/3.2/8', 'ebms/8.2.2/1', 'as4/3.2/18', 'once/content/1'],
  },
  'leaks-receipts': { caughtBy: ['as4/3.4/3', 'once/sender/1', 'once/content/1'] },
  'makes-new-receipts': { caughtBy: ['once/replay/2'] },
  'mixes-answers-up': { jobs: 1, caughtBy: ['as4/3.4/1', 'as4/5.1.8/6'] },
  'never-forgets': { caughtBy: ['once/window/1'] },
  'opens-without-store': { caughtBy: ['as4/3.2/21', 'once/store/1'] },
  'processes-cut-requests': { quiet: 300, caughtBy: ['rfc9112/8/5'] },
  'receipts-altered-content': { signed: true, caughtBy: ['as4/3.4/4'] },
  'receipts-before-delivery': { caughtBy: ['as4/3.4/2'] },
  'rejects-line-feeds': { caughtBy: ['rfc2046/5.1.1/5'] },
  'repeats-receipt-ids': { caughtBy: ['ebms/5.2.2.1/1'] },
  'takes-outage-for-duplicate': { caughtBy: ['once/store/1'] },
  'tampers-receipts': { signed: true, caughtBy: ['as4/5.1.8/4'] },
  'verifies-nothing': {
    signed: true,
    caughtBy: ['as4/5.1.4/1', 'as4/5.1.4/3', 'as4/5.1.4/4', 'as4/5.1.4/5', 'as4/5.1.5/2', 'ta/cp-ta35/1'],
  },
};

const SIGNATURE_NEEDS = ['signing', 'signature-required', 'encryption'];

/** The requirements that need a signature, and what they stand on. */
function aboutSignatures(): Requirement[] {
  const wanted = new Set(
    REQUIREMENTS.filter(({ needs }) => needs?.some((need) => SIGNATURE_NEEDS.includes(need))).map(({ id }) => id),
  );
  for (const id of wanted) for (const before of [BASE, ...(byId(id).dependsOn ?? [])]) wanted.add(before);
  return REQUIREMENTS.filter(({ id }) => wanted.has(id));
}

function byId(id: string): Requirement {
  const found = REQUIREMENTS.find((requirement) => requirement.id === id);
  if (found === undefined) throw new Error(`no requirement ${id}`);
  return found;
}

/** Whether one of `roots` stands somewhere below this requirement. */
function standsOn(id: string, roots: ReadonlySet<string>): boolean {
  return (byId(id).dependsOn ?? []).some((before) => roots.has(before) || standsOn(before, roots));
}

/** A hundred copies each: left out where the fault has nothing to do with them. */
const HEAVY = ['as4/3.2/17', 'as4/3.2/22'];

/** What the suite says about one broken receiver. */
export async function judge(name: string, cast: Cast) {
  const { caughtBy, signed = false, jobs = 4, quiet = 40 } = FAULTS[name] as Fault;
  const [Broken] = Object.values(
    (await import(`./broken/${name}.ts`)) as Record<string, new (options: ReceiverOptions) => GoodReceiver>,
  );
  if (Broken === undefined) throw new Error(`no class in ${name}`);
  const scene = await stage((options) => new Broken(options), cast, { signed, quiet });
  try {
    const light = REQUIREMENTS.filter(({ id }) => caughtBy.includes(id) || !HEAVY.includes(id));
    const results = await runSuite(scene.target, { requirements: signed ? aboutSignatures() : light, jobs });
    const ids = (...verdicts: string[]) =>
      results
        .filter(({ verdict }) => verdicts.includes(verdict))
        .map(({ requirement }) => requirement.id)
        .toSorted();
    return {
      caught: ids('fail', 'warning'),
      errors: results
        .filter(({ verdict }) => verdict === 'error')
        .map(({ requirement, detail }) => `${requirement.id}: ${detail}`),
      blockedByOthers: ids('blocked').filter((id) => !standsOn(id, new Set(caughtBy))),
    };
  } finally {
    await scene.close();
  }
}
