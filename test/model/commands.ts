import fc from 'fast-check';
import { provenDead, thisProcess } from '../../src/ledger/owner.js';
import type { Ledger } from '../../src/ledger/port.js';
import type { DuplicateKey, LedgerRecord, Owner } from '../../src/ledger/record.js';
import { point, primariesOf, stands, transition, type CommandName, type Commands, type Moment } from '../../src/ledger/transition.js';
import { sampleAttempt, sampleClaim, sampleDecision, sampleImport, sampleKey, samplePoint, sampleReply } from '../../src/testing/index.js';

/**
 * Random sequences of commands, run on an engine and on the pure transition over a Map. Time does not pass in them, so
 * that engines with a real clock can be held to the same model: a claim that lapses at once is one of a dead owner, and
 * a window that is over is one of length zero.
 */
type Run = { [K in CommandName]: { readonly name: K; readonly command: Commands[K]['in'] } }[CommandName];
export type Action = Run | { readonly name: 'point'; readonly command: Parameters<Ledger['point']>[0] } | { readonly name: 'find'; readonly key: DuplicateKey };

const alive: Owner = { node: 'alive', pid: 1, started: '1', boot: '', pidNamespace: '' };
/** Of this machine and boot, and of a process that cannot be: it has no pid of its own. */
const dead: Owner = { ...thisProcess('dead'), pid: 4_000_000, started: '1' };

const keys = [sampleKey('one'), sampleKey('two', 'other sender'), sampleKey('three')];
const key = fc.constantFrom(...keys);
const token = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const fingerprint = fc.constantFrom('signed:one', 'signed:one.body', 'signed:two');
const text = fc.constantFrom('first', 'second');

const claims = fc.record({
  key, token, fingerprint,
  sender: fc.constantFrom('POP1', 'POP1', 'POP2'),
  owner: fc.constantFrom(alive, alive, dead),
  windowMs: fc.constantFrom(86_400_000, 86_400_000, 86_400_000, 0),
  uncertain: fc.constantFrom('auto' as const, 'redeliver' as const, 'hold' as const),
  remembersMs: fc.constantFrom(0, 1e9),
  known: fc.constantFrom('pass' as const, 'hold' as const),
  take: fc.constantFrom(true, true, true, false),
  counted: fc.boolean(),
}).map(({ key: of, token: by, ...change }) => sampleClaim(of, by, { ...change, lateMs: 86_400_000 }));

const make = <K extends CommandName>(name: K, command: fc.Arbitrary<Commands[K]['in']>): fc.Arbitrary<Action> =>
  command.map((made) => ({ name, command: made }) as Action);

export const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: make('claim', claims) },
  { weight: 2, arbitrary: make('renew', claims.map((claim) => sampleAttempt(claim).held)) },
  { weight: 5, arbitrary: make('settle', fc.tuple(claims, text).map(([claim, reply]) => sampleAttempt(claim).settle(reply))) },
  {
    weight: 4,
    arbitrary: make('release', fc.tuple(claims, fc.constantFrom('rejected' as const, 'uncertain' as const), fc.boolean(), fc.boolean(), text)
      .map(([claim, outcome, hold, counts, reason]) => sampleAttempt(claim).release(outcome, { hold, counts, reason }))),
  },
  make('attach', fc.tuple(key, text).map(([of, reply]) => ({ key: of, reply: sampleReply(reply), decision: sampleDecision('attach') }))),
  make('revoke', key.map((of) => ({ key: of, decision: sampleDecision('revoke') }))),
  make('extend', fc.tuple(key, fc.constantFrom(1_000, 100_000_000)).map(([of, windowMs]) => ({ key: of, windowMs, lateMs: 0 }))),
  make('forget', key.map((of) => ({ key: of, decision: sampleDecision('forget') }))),
  make('operatorSettle', fc.tuple(key, text, fc.option(fingerprint, { nil: undefined }), fc.boolean())
    .map(([of, reply, proof, force]) => ({ key: of, reply: sampleReply(reply), fingerprint: proof, decision: sampleDecision('settle'), force }))),
  make('operatorRelease', fc.tuple(key, fc.boolean()).map(([of, force]) => ({ key: of, decision: sampleDecision('release'), force }))),
  make('adopt', fc.tuple(key, fc.option(text, { nil: undefined })).map(([of, reply]) => sampleImport(of, Date.UTC(2200, 0, 1), reply))),
  fc.tuple(claims, fc.constantFrom(sampleKey('digests'), sampleKey('instance')), fc.boolean())
    .map(([claim, pointer, waits]) => ({ name: 'point' as const, command: samplePoint(pointer, claim, { windowMs: 86_400_000, waits }) })),
  key.map((of) => ({ name: 'find' as const, key: of })),
);

/** The pure transition over a Map, at a time of its own. */
export class Model {
  readonly records = new Map<DuplicateKey, LedgerRecord>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  run(action: Action): unknown {
    const at: Moment = { now: Math.floor(this.#now()), contactMs: 0, isDead: provenDead };
    const read = (of: DuplicateKey): LedgerRecord | undefined => stands(this.records.get(of), at.now);
    if (action.name === 'find') return read(action.key);
    const { key: of } = action.command;
    const record = read(of);
    if (action.name === 'point') {
      const step = point(record, action.command, primariesOf(record, action.command).map(read), at);
      if (step.next !== undefined) this.records.set(of, step.next);
      return step.answer;
    }
    const step = transition(record, action.name, action.command as never, at);
    if (step.next !== undefined) this.records.set(of, step.next);
    else if (step.count !== undefined && record !== undefined) this.records.set(of, { ...record, ...step.count });
    return step.answer;
  }
}

export async function runOn(ledger: Ledger, action: Action): Promise<unknown> {
  if (action.name === 'find') return (await ledger.find(action.key))?.record;
  return (ledger[action.name] as (command: unknown) => Promise<unknown>)(action.command);
}

/** Engines and model have clocks of their own: times and versions are left out, everything else has to agree. */
const TIMES = new Set(['now', 'born', 'began', 'ended', 'lastSeen', 'leaseUntil', 'keptUntil', 'when', 'version', 'firstUncertain']);

export function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => [name, TIMES.has(name) ? 'a time' : comparable(name === 'previous' ? uncounted(field) : field)]));
}

/** An engine may have counted the copy in the record it replaces. */
const uncounted = (previous: unknown): unknown => ({ ...(previous as LedgerRecord), copies: 'any' });
