import { EdiBroken } from '../edi/broken.js';
import { As4OnceError } from '../errors.js';
import { partiesText } from '../policy/key.js';
import { noteNames } from './ack-names.js';
import { replayAcks } from './ack-replay.js';
import { claimUnit, giveBack, type Finding } from './claim-unit.js';
import { missing } from './fs-errors.js';
import { moveInto, type Target } from './move-into.js';
import { cutOut, splitUp } from './parts.js';
import { reportFile, type Told } from './report-file.js';
import { storeAcks } from './stored-acks.js';
import { readContents, type Contents, type Unit } from './units.js';
import { newToken, retake, type WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/** What became of a file: where it went, or that it still lies in work (`later`), or that another watcher has it. */
export type Fate = { readonly kind: 'moved'; readonly target: Target; readonly name: string } | { readonly kind: 'split'; readonly token: string } | { readonly kind: 'later' } | { readonly kind: 'gone' };

type First = Extract<Finding, { kind: 'first' }>;
type Duplicate = Extract<Finding, { kind: 'duplicate' }>;

/** Rounds for a file whose messages other files settle at the same moment. */
const ROUNDS = 5;

/**
 * THE WALK of a file, readable top to bottom: read, claim, settle, move. All of its messages are claimed, in the order of
 * their keys, before anything is settled; all are settled before the file leaves work; leaving work is the last step and
 * one rename. So a file in work was not delivered, and whoever finds it there begins this walk anew, under its token.
 */
export async function processFile(watching: Watching, file: WorkFile): Promise<Fate> {
  const began = watching.clock.monotonic();
  let contents: Contents;
  try {
    watching.step('read');
    contents = await readContents(watching, file.path);
  } catch (error) {
    return await refuse(watching, file, error, began);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const fate = await decide(watching, file, contents, began);
    if (fate !== 'again') return fate;
    contents = await readContents(watching, file.path);
  }
  return { kind: 'later' };
}

async function decide(watching: Watching, file: WorkFile, contents: Contents, began: number): Promise<Fate | 'again'> {
  const findings = await claimAll(watching, file, contents);
  const told = (target: Target, name: string, more?: Partial<Told>): void => reportFile(watching, file, { findings, target, name, size: contents.size, began, ...more });
  const of = <K extends Finding['kind']>(kind: K): Extract<Finding, { kind: K }>[] => findings.filter((f): f is Extract<Finding, { kind: K }> => f.kind === kind);
  if (of('busy').length > 0) return await comeAgain(watching, file, findings);
  const [quarantined] = of('quarantine');
  if (quarantined !== undefined) {
    await giveBack(watching, findings, quarantined.code);
    return await moved(watching, file, 'quarantine', told, { suffix: 'reason', content: reasons(findings) });
  }
  const duplicates = of('duplicate');
  const passing = [...of('first'), ...of('forward')];
  if (passing.length === 0) {
    await replayAcks(watching, file, duplicates);
    return await moved(watching, file, 'duplicates', told);
  }
  if (duplicates.length > 0) return await mixed(watching, file, contents, findings, duplicates, told);
  if (!(await settleAll(watching, file, of('first')))) return 'again';
  return await moved(watching, file, 'out', told);
}

/** Every key once, in sorted order, so that two files with the same messages cannot wait for each other. */
async function claimAll(watching: Watching, file: WorkFile, { units }: Contents): Promise<Finding[]> {
  const sorted = [...units].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.start - b.start));
  const findings: Finding[] = [];
  watching.step('claim');
  for (const [index, unit] of sorted.entries()) {
    const before = findings[index - 1];
    const twice = before !== undefined && before.unit.key === unit.key && before.kind === 'first' ? before : undefined;
    findings.push(twice === undefined ? await claimUnit(watching, file, unit, units.length) : withinFile(twice, unit));
  }
  watching.step('claimed');
  return findings.sort((a, b) => a.unit.start - b.unit.start);
}

/** The same key twice in one file: a copy of the first one, or a number used for two contents. */
function withinFile(first: First, unit: Unit): Finding {
  if (first.unit.message.fingerprint === unit.message.fingerprint) {
    return { kind: 'duplicate', unit, record: first.record, key: first.claim.key };
  }
  const sameSender = partiesText(first.unit.message.facts.from) === partiesText(unit.message.facts.from);
  return { kind: 'quarantine', unit, code: sameSender ? 'MISMATCH' : 'OTHER_SENDER', why: 'the same number twice in this file, with different content', record: first.record };
}

/**
 * Someone else works on one of the messages: ours are given back, and the file is tried again later under a new token.
 * Or it was us, who gave a claim back and died before the file was moved: a token that has ended claims nothing more.
 */
async function comeAgain(watching: Watching, file: WorkFile, findings: readonly Finding[]): Promise<Fate> {
  await giveBack(watching, findings, 'another file with one of these messages is in work');
  const again = await retake(watching, file, newToken(watching));
  if (again === undefined) return { kind: 'gone' };
  const others = findings.some((found) => found.kind === 'busy' && found.record.state === 'claimed');
  return others ? { kind: 'later' } : await processFile(watching, again);
}

/** Law 2: in the ledger before the file leaves. False: another file settled one of them first. */
async function settleAll(watching: Watching, file: WorkFile, firsts: readonly First[]): Promise<boolean> {
  watching.step('settle');
  for (const { claim, settled } of firsts) {
    if (settled) continue;
    const { key, token, fingerprint } = claim;
    const reply = storeAcks({ token, acks: [], replays: [] });
    const answer = await watching.ledger.settle({ key, token, fingerprint, reply, beganMsAgo: 0, claim });
    if (answer.kind !== 'ok' || answer.record.token !== token) return false;
    watching.step('settled');
  }
  if (watching.config.folders.acks !== undefined) {
    await noteNames(watching, file, firsts.map(({ unit, claim }) => ({ unit, key: claim.key })));
    watching.step('noted');
  }
  return true;
}

type Tell = (target: Target, name: string, more?: Partial<Told>) => void;

/** First copies and repetitions in one file. */
async function mixed(
  watching: Watching, file: WorkFile, contents: Contents, findings: readonly Finding[], duplicates: readonly Duplicate[], told: Tell,
): Promise<Fate | 'again'> {
  const policy = contents.units[0]?.rule.mixed ?? 'cut';
  if (policy === 'hold' && !file.accepted) {
    await giveBack(watching, findings, 'held: some messages of the file were accepted before');
    return await moved(watching, file, 'quarantine', told, { suffix: 'reason', content: { code: 'HELD', ...reasons(findings) } });
  }
  if (policy === 'split') {
    await giveBack(watching, findings, 'the file is split');
    await splitUp(watching, file, contents);
    return { kind: 'split', token: file.token };
  }
  const drop = new Set(duplicates.map(({ unit }) => unit));
  await replayAcks(watching, file, duplicates);
  // the cut file holds first copies only; what was claimed for it stays claimed under its token
  const kept = await cutOut(watching, file, contents, drop, reasons(findings));
  told('duplicates', kept, { only: drop });
  return 'again';
}

async function moved(
  watching: Watching, file: WorkFile, target: Target, told: Tell, beside?: { readonly suffix: string; readonly content: object },
): Promise<Fate> {
  const name = await moveInto(watching, file, target, beside);
  if (name === undefined) return { kind: 'gone' };
  told(target, name);
  return { kind: 'moved', target, name };
}

/** What stands in a reason or report: each message and what became of it. */
function reasons(findings: readonly Finding[]): object {
  return {
    messages: findings.map((found) => ({
      reference: found.unit.message.reference,
      from: found.unit.message.facts.from,
      to: found.unit.message.facts.to,
      start: found.unit.start,
      end: found.unit.end,
      key: found.unit.key,
      found: found.kind,
      ...(found.record === undefined ? {} : { firstSeen: new Date(found.record.born).toISOString() }),
      ...(found.kind === 'quarantine' ? { code: found.code, why: found.why } : {}),
    })),
  };
}

/** What cannot be read goes aside with its reason; what cannot be read now (a disk error) stays. */
async function refuse(watching: Watching, file: WorkFile, error: unknown, began: number): Promise<Fate> {
  if (missing(error)) return { kind: 'gone' };
  if (!(error instanceof As4OnceError)) throw error;
  const { code, detail } = error;
  const place = error instanceof EdiBroken ? { reason: error.reason, segment: error.segment, tag: error.tag, offset: error.offset } : {};
  const name = await moveInto(watching, file, 'refused', { suffix: 'reason', content: { code, detail, ...place } });
  if (name === undefined) return { kind: 'gone' };
  reportFile(watching, file, { findings: [], target: 'refused', name, size: 0, began, error });
  return { kind: 'moved', target: 'refused', name };
}

