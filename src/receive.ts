import { askLedger, claimOf, heldWhileDown } from './delivery/claim.js';
import { deliver, forward } from './delivery/deliver.js';
import { later, refused } from './delivery/refuse.js';
import { replay } from './delivery/replay.js';
import { takeIn, type TakenIn } from './delivery/take-in.js';
import { As4OnceError } from './errors.js';
import type { AnswerName } from './events.js';
import type { Exchange, Reply } from './exchange.js';
import type { Claim, ClaimAnswer } from './ledger/port.js';
import { named, noteMessage, noteRecord, report } from './notes.js';
import { partiesText } from './policy/key.js';
import { mismatchText } from './policy/mismatch-text.js';
import type { Route, Step, Walk } from './walk.js';

type Inbound = Extract<TakenIn, { kind: 'message' }>;

/**
 * THE WALK of a message, readable top to bottom. No Express, no Redis and no clock of its own: all of that is handed
 * in. Every step either answers or throws an As4OnceError, which is answered here. Nothing is recorded before `claim`,
 * and nothing is delivered before the claim is granted.
 */
export async function receive(exchange: Exchange, route: Route, walk: Walk): Promise<Reply> {
  const began = walk.clock.monotonic();
  const at = walk.clock.now();
  walk.events.emit('arrived', { route: route.name, at });
  const step: Step = { exchange, route, walk, notes: { at }, answerBy: began + route.times.answerBy };
  let reply: Reply;
  try {
    // identify and policy: the body is read to its end, and nobody's id is touched (law 7)
    const taken = await takeIn(step);
    step.kept = taken.body;
    reply = taken.kind === 'pass' ? await pass(step, taken) : await decide(step, taken);
  } catch (error) {
    step.notes.answer ??= 'refused';
    reply = await refused(step, error);
  }
  await step.kept?.dispose();
  report(step, reply, began);
  return reply;
}

/** claim, and where each of its answers leads. */
async function decide(step: Step, inbound: Inbound): Promise<Reply> {
  const { walk, notes } = step;
  const { message, rule, body } = inbound;
  noteMessage(step, message, rule);
  if (walk.bypassed?.() === true && body !== undefined) return await bypass(step, inbound);
  const deadline = Math.min(walk.clock.monotonic() + rule.wait, step.answerBy);
  let claim = claimOf(step, await keyInForce(step, inbound), message, rule, body !== undefined);
  for (let waited = false; ; ) {
    notes.key = claim.key;
    const answer = await answerOf(step, inbound, claim);
    if (answer === 'open') {
      notes.would = 'unknown';
      return await forward(step, inbound, 'forwarded');
    }
    noteRecord(step, answer.record);
    if (answer.kind === 'claimed') return await deliver(step, inbound, claim, answer);
    if (rule.mode !== 'eliminate') return await observe(step, inbound, answer.kind, claim);

    switch (answer.kind) {
      case 'inFlight': {
        const woken = await orNote(step, 'busy', walk.waiting.for(claim.key, answer.record, deadline));
        if (!woken) return comeAgain(step, 'busy', 'IN_PROGRESS', rule.inFlight);
        waited = true;
        claim = { ...claim, token: walk.clock.id(), counted: true };
        continue;
      }
      case 'settled':
        notes.answer = waited ? 'waited' : 'replay';
        return replay(step, answer.record);
      case 'held':
        return comeAgain(step, 'held', 'HELD');
      case 'known':
        return rule.known === 'hold' ? comeAgain(step, 'held', 'HELD') : await forward(step, inbound, 'forwarded', 'duplicate');
      case 'mismatch': {
        const apart = mismatch(step, inbound, claim, answer);
        if (typeof apart !== 'string') return await apart;
        claim = claimOf(step, apart, message, rule, body !== undefined);
      }
    }
  }
}

/**
 * Same key, other content (or, under key `reference`, another sender), and the first is settled: an Error, never a
 * Receipt, unless policy says otherwise. What policy lets through gets a key of its own, so that it too is delivered once.
 */
function mismatch(step: Step, { rule, keys, answerIn }: Inbound, claim: Claim, { record }: ClaimAnswer): Reply | Promise<Reply> | string {
  const { walk, route, notes } = step;
  const otherSender = record.sender !== claim.sender;
  walk.events.emit('mismatch', { ...named(step, claim.key), firstSeen: record.born });
  if (!otherSender && rule.mismatch === 'replay') {
    notes.answer = 'replay';
    return replay(step, record);
  }
  const apart = otherSender ? keys.withSender() : keys.withContent();
  const allowed = otherSender ? rule.otherSender === 'deliver' : rule.mismatch === 'deliver-flagged';
  if (allowed && apart !== claim.key) return apart;
  const error = new As4OnceError(otherSender ? 'OTHER_SENDER' : 'MISMATCH', mismatchText(record.protocol, otherSender, record.born));
  notes.answer = 'mismatch';
  notes.code = error.code;
  notes.detail = error.detail;
  return route.refuse(error, answerIn);
}

/** The ledger is switched off for a while: the log names each message, so that it can be imported afterwards. */
async function bypass(step: Step, inbound: Inbound): Promise<Reply> {
  step.notes.key = inbound.keys.key;
  step.notes.mode = 'bypass';
  return await forward(step, inbound, 'forwarded', 'bypass');
}

/** detect-only and shadow: a copy goes forward at once and writes nothing but counters, and the first valid Receipt. */
async function observe(step: Step, inbound: Inbound, would: string, claim: Claim): Promise<Reply> {
  step.notes.would = would;
  step.walk.events.emit('shadow', { ...named(step, inbound.keys.key), would });
  const mark = inbound.rule.mode === 'detect-only' ? 'duplicate' : undefined;
  return await forward(step, inbound, 'forwarded', mark, would === 'held' ? claim : undefined);
}

/** Signals, and in shadow mode what cannot be read, go on untouched and unclaimed. */
async function pass(step: Step, taken: Extract<TakenIn, { kind: 'pass' }>): Promise<Reply> {
  step.notes.answer = 'passed';
  if (taken.unreadable !== undefined) {
    step.notes.mode = 'shadow';
    step.notes.would = 'refuse';
    step.notes.code = taken.unreadable.code;
    step.notes.detail = taken.unreadable.detail;
  }
  const reply = await step.route.pass(step.exchange, taken.body);
  // an answer that streams may have begun before the request was sent to its end: the body goes when the answer does
  if (!(reply.body instanceof Uint8Array)) step.kept = undefined;
  return reply;
}

/** The ledger's answer; `open` where shadow mode goes on without one. */
async function answerOf(step: Step, { rule }: Inbound, claim: Claim): Promise<ClaimAnswer | 'open'> {
  const asked = askLedger(step, claim, rule.mode === 'shadow');
  if (rule.mode !== 'shadow') return await orNote(step, 'unavailable', asked);
  return await asked.catch((error: unknown) => {
    // the sender does not notice, so the log has to say why
    step.notes.code = error instanceof As4OnceError ? error.code : 'INTERNAL';
    step.notes.detail = error instanceof As4OnceError ? error.detail : String(error);
    return 'open' as const;
  });
}

/**
 * For one window after a change of granularity a record under the old key still speaks for its message, though not for
 * another one that only the old key took for the same.
 */
async function keyInForce(step: Step, { keys, rule, message }: Inbound): Promise<string> {
  const { previous, key } = keys;
  if (previous === undefined) return key;
  const find = (): ReturnType<Step['walk']['ledger']['find']> => step.walk.ledger.find(previous);
  const found = await (rule.mode === 'shadow' ? find().catch(() => undefined) : orNote(step, 'unavailable', heldWhileDown(step, find)));
  if (found === undefined) return key;
  const { facts, fingerprint, sender } = found.record;
  const another = (rule.key.includes('+sender') && sender !== partiesText(message.facts.from))
    || (rule.key.includes('+recipient') && partiesText(facts.to) !== partiesText(message.facts.to))
    || (rule.key.includes('+content') && fingerprint !== message.fingerprint);
  return another ? key : previous;
}

function comeAgain(step: Step, answer: AnswerName, code: 'IN_PROGRESS' | 'HELD', status: 409 | 503 = 503): Reply {
  step.notes.answer = answer;
  return later(step, code, status);
}

/** Names the answer in the log where the promise rejects. */
async function orNote<T>(step: Step, name: AnswerName, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    step.notes.answer = name;
    throw error;
  }
}
