import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Config } from '../config/config.js';
import type { Events } from '../events.js';
import type { Ledger } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import { WINDOWS } from '../ledger/shelves.js';
import { compileRules, selectRule, type RuleSet } from '../policy/select.js';

/**
 * Law 9: a raised window reaches the records that stand. A process walks the ledger once after its own rules have
 * changed, in the background and slowly, and raises what is shorter than policy says now; it never lowers anything. How
 * far it came lies in the ledger under the name of the process, so that a restart goes on there. Two processes that
 * walk at the same time do nothing twice: raising is idempotent.
 */
export interface Extending {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly events: Events;
  /** Which process this is: stays the same over a restart, and no other has it at the same time. */
  readonly by: string;
  /**
   * Set at a reload: so long, ms, exchanges may still claim by the rules they came by. Whatever they wrote behind the
   * back of the first walk is seen by a second one.
   */
  readonly oldRulesMs?: number;
  /** Beside it: resolves when the last of them has ended, which takes longer where a body comes slowly; then one more walk. */
  readonly oldRulesEnded?: Promise<void>;
}

/** What a record may claim by today's rules, ms. */
interface Span {
  readonly window: number;
  readonly late: number;
}

interface Progress {
  /** Of the rules the walk was for. */
  readonly digest: string;
  /** Walks that are not done. */
  readonly left: number;
  /** Absent at the beginning of a walk. */
  readonly cursor?: string;
}

/** Records looked at before the next pause: about a thousand a second, whatever the store could do. */
const AT_ONCE = 200;
const PAUSE = 200;
/** While the ledger cannot be reached, ms. */
const AGAIN = 5_000;
const KEPT = 366 * 86_400_000;

/** Resolves when every record that stands was seen, or at once where that was done before; ends early on `signal`. */
export async function extendWindows(
  parts: Extending,
  config: Pick<Config, 'routes' | 'watch'>,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, clock, events, by, oldRulesMs, oldRulesEnded } = parts;
  const spans = new Spans(config);
  let ended = oldRulesEnded === undefined;
  void oldRulesEnded?.then(() => (ended = true));
  // whether that was so when the walk under way began
  let endedBefore = ended;
  let progress: Progress | undefined;
  let raised = 0;
  let seen = 0;
  while (!signal.aborted) {
    try {
      progress ??= await begun(ledger, by, { digest: spans.digest, left: oldRulesMs === undefined ? 1 : 2 });
      if (progress.left === 0) return;
      if (progress.cursor === undefined) endedBefore = ended;
      const step = await walk(ledger, spans, progress.cursor, signal);
      raised += step.raised;
      seen += step.seen;
      const { digest, left } = progress;
      const again = step.cursor === undefined && left === 1 && !endedBefore;
      if (step.cursor !== undefined) progress = { digest, left, cursor: step.cursor };
      else progress = { digest, left: again ? 1 : left - 1 };
      // of an unfinished walk only the next process needs to know, so that a small ledger costs one note
      if (step.cursor === undefined || seen % (AT_ONCE * 10) < AT_ONCE) await note(ledger, by, progress);
      if (step.cursor === undefined && raised > 0) {
        events.emit('windowsRaised', { records: raised, seen });
        raised = 0;
      }
      if (again) await untilEnded(oldRulesEnded, signal);
      else if (progress.left > 0) await clock.sleep(step.cursor === undefined ? (oldRulesMs ?? 0) : PAUSE, signal);
    } catch {
      await clock.sleep(AGAIN, signal); // out of reach: nothing is lost, the walk goes on from where it was
    }
  }
}

async function untilEnded(ended: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([ended, aborted]);
}

/** Goes on with a walk for the same rules, if this process has begun one. */
async function begun(ledger: Ledger, by: string, fresh: Progress): Promise<Progress> {
  const standing = parsed((await ledger.notes(WINDOWS)).get(by));
  return standing?.digest === fresh.digest ? standing : fresh;
}

async function note(ledger: Ledger, by: string, progress: Progress): Promise<void> {
  await ledger.note({ shelf: WINDOWS, entries: { [by]: JSON.stringify(progress) }, keptMs: KEPT });
}

function parsed(text: string | undefined): Progress | undefined {
  try {
    const progress = JSON.parse(text ?? '') as Partial<Progress>;
    const whole = typeof progress.digest === 'string' && typeof progress.left === 'number';
    return whole ? (progress as Progress) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A part of the ledger. It ends where a cursor changes: Redis gives one cursor for a whole page and shows that page
 * again, the embedded ledger gives one for each record and goes on behind it.
 */
async function walk(
  ledger: Ledger,
  spans: Spans,
  from: string | undefined,
  signal: AbortSignal,
): Promise<{ seen: number; raised: number; cursor?: string }> {
  let seen = 0;
  let raised = 0;
  let page = from;
  for await (const { record, cursor } of ledger.iterate(from)) {
    if (signal.aborted) return { seen, raised, cursor };
    seen += 1;
    if (await raise(ledger, spans, record)) raised += 1;
    if (seen >= AT_ONCE && cursor !== page) return { seen, raised, cursor };
    page = cursor;
  }
  return { seen, raised };
}

/** A pointer outlives its primary never, and should not die before it either. */
async function raise(ledger: Ledger, spans: Spans, record: LedgerRecord): Promise<boolean> {
  const { pointer } = record;
  const judged = pointer === undefined ? record : (await ledger.find(pointer.primary))?.record;
  const span = judged === undefined ? undefined : spans.of(judged);
  if (span === undefined || (span.window <= record.window && span.late <= record.late)) return false;
  const lateMs = pointer === undefined ? span.late : 0;
  if (pointer !== undefined && span.window <= record.window) return false;
  return (await ledger.extend({ key: record.key, windowMs: span.window, lateMs })).kind === 'ok';
}

/** The spans of a configuration, by the protocol and scope that records name. */
class Spans {
  readonly digest: string;
  readonly #rules = new Map<string, RuleSet[]>();

  constructor({ routes, watch }: Pick<Config, 'routes' | 'watch'>) {
    const hash = createHash('sha256');
    for (const { protocol, scope, rules } of [...routes, ...watch]) {
      const place = placeOf(protocol, scope);
      this.#rules.set(place, [...(this.#rules.get(place) ?? []), compileRules(rules)]);
      const { defaults, partners } = rules;
      const said = partners.map(({ match, rule }) => [match, rule.window, rule.late]);
      hash.update(`${JSON.stringify([place, defaults.window, defaults.late, said])}\n`);
    }
    this.digest = hash.digest('hex');
  }

  /** The longest that any rule for the record gives it; where its parties were forgotten, any rule of its place. */
  of(record: LedgerRecord): Span | undefined {
    const sets = this.#rules.get(placeOf(record.protocol, record.scope)) ?? [];
    const forgotten = record.facts.from.length === 0 && record.sender === '';
    const rules = sets.flatMap((set) => (forgotten ? [set.defaults, ...set.partners] : [selectRule(set, record)]));
    if (rules.length === 0) return undefined;
    return rules.reduce<Span>(
      (longest, { window, late }) => ({
        window: Math.max(longest.window, window),
        late: Math.max(longest.late, late),
      }),
      { window: 0, late: 0 },
    );
  }
}

const placeOf = (protocol: string, scope: string): string => JSON.stringify([protocol, scope]);
