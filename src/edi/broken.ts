import { As4OnceError } from '../errors.js';

/** Where in a file something stands: how an operator finds it with any editor. */
export interface Place {
  /** Number of the segment within its interchange, counted from 1 (UNA is not a segment); 0 before the first. */
  readonly segment: number;
  /** Tag of that segment, or '' where it has none. */
  readonly tag: string;
  /** Byte offset from the start of the file. */
  readonly offset: number;
}

/** A file that cannot be read as an interchange. Nothing of it may become a key. */
export class EdiBroken extends As4OnceError implements Place {
  readonly reason: string;
  readonly segment: number;
  readonly tag: string;
  readonly offset: number;
  constructor(reason: string, place: Place) {
    const where = place.segment === 0 ? '' : `segment ${place.segment}${place.tag === '' ? '' : ` (${place.tag})`}, `;
    super('EDI_BROKEN', `${reason} (${where}offset ${place.offset})`);
    this.reason = reason;
    this.segment = place.segment;
    this.tag = place.tag;
    this.offset = place.offset;
  }
}

/** At which level of the envelope counts and references disagree. */
export type CheckLevel = 'interchange' | 'group' | 'message';

/**
 * Whether a disagreement is only reported (`warn`) or refused (`strict`), for all levels or for each one. Real partners
 * send wrong counts for years, so `warn` is the default.
 */
export type Checks = 'warn' | 'strict' | { readonly [L in CheckLevel]?: 'warn' | 'strict' };

/** `repeated`: a reference that should be unique is not; `missing`: a segment that belongs to another is not there. */
export type FindingKind = 'reference' | 'count' | 'repeated' | 'missing';

/** A count, reference or date of the envelope that does not agree with the rest. */
export interface Finding extends Place {
  readonly level: CheckLevel;
  readonly kind: FindingKind;
  readonly text: string;
}

/** The first finding that is refused under `checks`. */
export function strictFinding(findings: readonly Finding[], checks: Checks): Finding | undefined {
  return findings.find(({ level }) => ruleFor(level, checks) === 'strict');
}

function ruleFor(level: CheckLevel, checks: Checks): 'warn' | 'strict' | undefined {
  return typeof checks === 'string' ? checks : checks[level];
}

/** Findings kept for one interchange; a file can hold millions. */
const KEPT = 100;

/** Collects findings, each text once, or refuses at the first one of a level that is strict. */
export class Findings {
  readonly #checks: Checks;
  readonly #kept = new Map<string, Finding>();
  constructor(checks: Checks) {
    this.#checks = checks;
  }
  add(level: CheckLevel, kind: FindingKind, text: string, place: Place): void {
    if (ruleFor(level, this.#checks) === 'strict') throw new EdiBroken(text, place);
    if (this.#kept.size < KEPT && !this.#kept.has(text)) this.#kept.set(text, { level, kind, text, ...place });
  }
  list(): readonly Finding[] {
    return [...this.#kept.values()];
  }
}
