import type { As4OnceError } from '../errors.js';
import type { AnswerName } from '../events.js';
import type { Finding } from './claim-unit.js';
import type { Target } from './move-into.js';
import type { Unit } from './units.js';
import type { WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/** What there is to say of a file that left work. */
export interface Told {
  readonly findings: readonly Finding[];
  readonly target: Target;
  /** The name it got there. */
  readonly name: string;
  readonly size: number;
  /** Monotonic ms. */
  readonly began: number;
  /** Only these messages: the rest of the file is not decided yet. */
  readonly only?: ReadonlySet<Unit>;
  readonly error?: As4OnceError;
}

/** HTTP statuses stand in for what a folder has none of, so that logs and metrics of both ways in read the same. */
const STATUS: Readonly<Record<Target, number>> = { out: 200, duplicates: 200, ackOut: 200, refused: 400, quarantine: 409 };

/** One event for each message of the file, as for an HTTP exchange; `peer` is the file. */
export function reportFile({ events, clock, owner, config }: Watching, file: WorkFile, told: Told): void {
  const common = {
    at: clock.now(),
    status: STATUS[told.target],
    ms: Math.round((clock.monotonic() - told.began) * 10) / 10,
    node: owner.node,
    route: config.name,
    peer: file.name,
  };
  const arrived = { route: config.name, at: common.at };
  if (told.error !== undefined) {
    events.emit('arrived', arrived);
    events.emit('exchange', { ...common, answer: 'refused', bytes: told.size, code: told.error.code, detail: told.error.detail, protocol: config.protocol });
    return;
  }
  for (const found of told.findings) {
    if (told.only !== undefined && !told.only.has(found.unit)) continue;
    const { message, rule, key, start, end } = found.unit;
    const partner = rule.partner === undefined ? {} : { partner: rule.partner };
    if (found.kind === 'forward') {
      events.emit('shadow', { key, messageId: message.reference, would: found.would, ...partner });
    }
    if (found.kind === 'first' && found.mark === 'late') {
      events.emit('late', { key, messageId: message.reference, firstSeen: found.record.follows?.born ?? found.record.born, ...partner });
    }
    const renamed = told.name === file.name ? undefined : `${told.target}/${told.name}`;
    const detail = found.kind === 'quarantine' ? found.why : renamed;
    events.emit('arrived', arrived);
    events.emit('exchange', {
      ...common,
      answer: answerOf(found, told.target),
      bytes: end - start,
      key,
      messageId: message.reference,
      protocol: message.protocol,
      from: message.facts.from.map(({ value }) => value).join(','),
      to: message.facts.to.map(({ value }) => value).join(','),
      ...(message.facts.action === undefined ? {} : { action: message.facts.action }),
      rule: rule.name,
      ...partner,
      ...(rule.mode === 'eliminate' ? {} : { mode: rule.mode }),
      ...(found.kind === 'forward' ? { would: found.would } : {}),
      ...(found.kind === 'quarantine' ? { code: found.code } : {}),
      ...(detail === undefined ? {} : { detail }),
      ...(found.record === undefined ? {} : { firstSeen: found.record.born, copies: found.record.copies, attempt: found.record.attempts.length }),
    });
  }
}

function answerOf(found: Finding, target: Target): AnswerName {
  // its file went to quarantine for the sake of another message in it
  if (target === 'quarantine' && found.kind !== 'quarantine') return 'held';
  switch (found.kind) {
    case 'first':
      return found.mark;
    case 'duplicate':
      return 'replay';
    case 'forward':
      return 'forwarded';
    case 'quarantine':
      return found.code === 'HELD' ? 'held' : 'mismatch';
    case 'busy':
      return 'busy';
  }
}
