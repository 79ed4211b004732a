import { As4OnceError, ERRORS } from '../errors.js';
import type { AnswerName } from '../events.js';
import { plain, type Reply } from '../exchange.js';
import type { Claim, ClaimAnswer } from '../ledger/port.js';
import type { Step } from '../walk.js';
import { conclude } from './conclude.js';
import type { AttemptResult, Attempted, Mark } from './port.js';
import { keepRoot } from './keep-root.js';
import { later } from './refuse.js';
import { pointSecondKeys, type SecondKeyVerdict } from './second-keys.js';
import type { TakenIn } from './take-in.js';

type Inbound = Extract<TakenIn, { kind: 'message' }>;
export type Granted = Extract<ClaimAnswer, { kind: 'claimed' }>;

/** How long an exchange waits for a ledger that it can do without, ms. */
const SHADOW = 1_000;
const NO_SECOND_KEYS: SecondKeyVerdict = { first: undefined, suppress: false, confirm: async () => undefined };

/**
 * claimed: hand the message on once, and let the outcome decide the ledger. A client that hangs up changes nothing; an
 * access point that answers after `answerBy` still settles, its sender has got a 504 by then and will come again.
 */
export async function deliver(step: Step, inbound: Inbound, claim: Claim, granted: Granted): Promise<Reply> {
  const { walk, notes } = step;
  if (inbound.body === undefined) {
    // It was settled when we looked and is not any more: the body was not kept, the next copy will be.
    notes.answer = 'busy';
    return later(step, 'IN_PROGRESS');
  }
  step.kept = undefined;
  notes.answer = granted.mark;
  if (granted.tookOver === true) {
    const owner = granted.previous?.owner?.node;
    walk.events.emit('takeOver', { key: claim.key, messageId: claim.reference, ...(owner === undefined ? {} : { owner }) });
  }
  const attempt = attemptAndConclude(step, inbound, claim, granted);
  return await answerInTime(step, attempt, { key: claim.key, messageId: claim.reference });
}

/**
 * Hands an unclaimed copy on (detect-only, shadow, imported ids): its own answer, nothing recorded. `proves`: the claim of
 * a message that is held; a Receipt for it is proof, whoever asked for it (law 5).
 */
export async function forward(step: Step, inbound: Inbound, answer: AnswerName, mark?: Mark, proves?: Claim): Promise<Reply> {
  const { body } = inbound;
  step.notes.answer = answer;
  if (body === undefined) return later(step, 'IN_PROGRESS');
  step.kept = undefined;
  const run = async (): Promise<Reply> => {
    try {
      const began = step.walk.clock.monotonic();
      const { result } = await attemptOnce(step, { ...inputs(step, inbound), body, mark });
      noteResult(step, result);
      if (proves !== undefined && result.stored !== undefined) {
        const beganMsAgo = Math.round(step.walk.clock.monotonic() - began);
        const { key, token, fingerprint } = proves;
        const settled = step.walk.ledger.settle({ key, token, fingerprint, reply: result.stored, beganMsAgo, claim: proves });
        await lookingOn(step, settled.then(() => undefined), undefined);
      }
      return result.code !== undefined && ERRORS[result.code].status === 503 ? later(step, result.code) : result.reply;
    } finally {
      await body.dispose();
    }
  };
  return await answerInTime(step, run(), { key: inbound.keys.key, messageId: inbound.message.reference });
}

async function attemptAndConclude(step: Step, inbound: Inbound, claim: Claim, granted: Granted): Promise<Reply> {
  const { body } = inbound;
  if (body === undefined) throw new As4OnceError('INTERNAL', 'a claim without a body');
  const stopRenewing = renewing(step, claim);
  try {
    const shadow = inbound.rule.mode === 'shadow';
    const pointed = pointSecondKeys(step, inbound.keys.second, claim);
    const seconds = await (shadow ? lookingOn(step, pointed, NO_SECOND_KEYS) : pointed);
    const mark = markOf(step, inbound, granted, seconds.first);
    noteMark(step, granted, mark, seconds.first);
    const { result } = await attemptOnce(step, {
      ...inputs(step, inbound),
      body,
      mark: shadow ? undefined : mark,
      record: granted.record,
      ...(granted.previous === undefined ? {} : { previous: granted.previous }),
      ...(seconds.first === undefined ? firstIdOf(granted) : { firstId: seconds.first }),
      ...(seconds.suppress ? { suppress: true as const } : {}),
    });
    noteResult(step, result);
    const concluded = conclude(step, claim, granted, result);
    if (shadow) await lookingOn(step, concluded, result.reply);
    const reply = shadow ? result.reply : await concluded;
    if (result.outcome === 'accepted') {
      await seconds.confirm();
      keepRoot(step, inbound, claim);
    }
    return reply;
  } finally {
    stopRenewing();
    await body.dispose();
  }
}

/** What is only looked on at holds nobody up, whatever the ledger says or whether it can be reached at all. */
async function lookingOn<T>({ walk }: Step, work: Promise<T>, otherwise: T): Promise<T> {
  const settled = work.catch(() => otherwise);
  walk.underWay.add(settled);
  void settled.then(() => walk.underWay.delete(settled));
  const enough = new AbortController();
  const done = await Promise.race([settled, walk.clock.sleep(SHADOW, enough.signal).then(() => otherwise)]);
  enough.abort();
  return done;
}

/** A renewal that fails is no reason to stop: the first valid Receipt wins, whoever holds the record (law 5). */
function renewing(step: Step, { key, token, leaseMs, patienceMs }: Claim): () => void {
  const { clock, ledger } = step.walk;
  const { renew } = step.route.times;
  let stopped = false;
  let cancel = clock.after(renew, again);
  return () => {
    stopped = true;
    cancel();
  };

  function again(): void {
    void ledger
      .renew({ key, token, leaseMs, patienceMs })
      .catch(() => undefined)
      .then(() => {
        if (!stopped) cancel = clock.after(renew, again);
      });
  }
}

function inputs(step: Step, inbound: Inbound): Pick<Attempted, 'message' | 'exchange' | 'rule' | 'content'> {
  const content = inbound.content === undefined ? {} : { content: inbound.content };
  return { message: inbound.message, exchange: step.exchange, rule: inbound.rule, ...content };
}

/** One attempt, bounded by `patience`. */
async function attemptOnce(step: Step, what: Omit<Attempted, 'signal'>): Promise<{ result: AttemptResult }> {
  const patience = new AbortController();
  const cancel = step.walk.clock.after(step.route.times.patience, () => patience.abort());
  try {
    return { result: await step.route.delivery.attempt({ ...what, signal: patience.signal }) };
  } finally {
    cancel();
  }
}

/** The sender's answer, or 504 at `answerBy` while the work goes on. */
async function answerInTime(step: Step, work: Promise<Reply>, named: { key: string; messageId: string }): Promise<Reply> {
  const { walk, notes } = step;
  walk.underWay.add(work);
  let late = false;
  let cancel = (): void => undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    cancel = walk.clock.after(Math.max(0, step.answerBy - walk.clock.monotonic()), () => resolve(undefined));
  });
  const finished = work
    .catch((error: unknown) => {
      if (late) walk.events.emit('fault', { code: 'INTERNAL', detail: String(error), key: named.key });
      throw error;
    })
    .finally(() => {
      walk.underWay.delete(work);
      cancel();
    });
  const first = await Promise.race([finished, tooLate]);
  if (first !== undefined) return first;
  late = true;
  finished.then(
    () => walk.events.emit('lateOutcome', { ...named, outcome: notes.outcome ?? 'uncertain', reason: notes.reason ?? '' }),
    () => undefined,
  );
  notes.code = 'ANSWER_LATE';
  return plain(504, 'ANSWER_LATE: the access point has not answered yet; try again later.\n');
}

function markOf({ walk }: Step, inbound: Inbound, granted: Granted, resendOf: string | undefined): Mark {
  if (granted.mark !== 'first') return granted.mark;
  if (resendOf !== undefined) return 'resend';
  if (walk.fromGap?.(inbound.message) === true) {
    walk.events.emit('gap', { key: granted.record.key, messageId: granted.record.reference });
    return 'redelivery';
  }
  return isLate(inbound, granted.now) ? 'late' : 'first';
}

/** No record is left, but the sender's own date is older than the window. */
function isLate({ message, rule }: Inbound, now: number): boolean {
  const { timestamp } = message.facts;
  return timestamp !== undefined && timestamp + rule.window < now;
}

function firstIdOf(granted: Granted): { firstId?: string } {
  return granted.mark === 'first' ? {} : { firstId: granted.record.reference };
}

function noteMark(step: Step, granted: Granted, mark: Mark, resendOf: string | undefined): void {
  const { walk, notes } = step;
  const named = { key: granted.record.key, messageId: granted.record.reference };
  notes.answer = mark === 'duplicate' || mark === 'bypass' ? 'forwarded' : mark;
  if (mark === 'late') {
    const firstSeen = granted.previous?.born ?? granted.record.facts.timestamp ?? granted.record.born;
    walk.events.emit('late', { ...named, firstSeen });
  }
  if (resendOf !== undefined) walk.events.emit('resend', { ...named, first: resendOf });
}

function noteResult(step: Step, result: AttemptResult): void {
  const { notes } = step;
  notes.outcome = result.outcome;
  notes.reason = result.reason;
  if (result.code !== undefined) notes.code = result.code;
  if (result.detail !== undefined) notes.detail = result.detail;
  if (result.stored?.receiptId !== undefined) notes.receiptId = result.stored.receiptId;
  if (result.stored !== undefined) notes.receiptSha256 = result.stored.sha256;
}
