import { createHash } from 'node:crypto';
import { As4OnceError } from '../errors.js';
import { EdiBroken, type Checks, type Finding } from './broken.js';
import type { EdifactInterchange, Interchange, X12Interchange } from './interchange.js';
import { interchangesOf } from './read-interchanges.js';
import { describeSbdh } from './sbdh.js';

/** What a file is and says, as `as4-once read` prints it. */
export interface EdiDescription {
  readonly category: 'edifact' | 'x12' | 'sbdh' | 'unknown';
  readonly size: number;
  readonly sha256: string;
  readonly verdict: 'parse' | 'reject';
  /** Why it was refused. */
  readonly reason?: string;
  /** Where: number and tag of the segment, byte offset in the file. */
  readonly segment?: number;
  readonly tag?: string;
  readonly offset?: number;
  readonly [field: string]: unknown;
}

/** Describes EDIFACT, X12, SBDH and plain UBL files. Never throws for what a file may hold: that is `verdict: reject`. */
export function describeEdi(bytes: Uint8Array, options: { readonly checks?: Checks } = {}): EdiDescription {
  const category = categoryOf(bytes);
  const head = { category, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  try {
    if (category === 'sbdh') return { ...head, verdict: 'parse', ...describeSbdh(bytes) };
    return { ...head, verdict: 'parse', ...describeInterchanges(interchangesOf(bytes, options)) };
  } catch (error) {
    if (error instanceof EdiBroken) {
      const { reason, segment, tag, offset } = error;
      return { ...head, verdict: 'reject', reason, segment, ...(tag === '' ? {} : { tag }), offset };
    }
    if (error instanceof As4OnceError) return { ...head, verdict: 'reject', reason: error.detail };
    throw error;
  }
}

/** By the first characters behind byte order mark and white space. Interactive EDIFACT (UIB) is for its reader to refuse. */
export function categoryOf(bytes: Uint8Array): EdiDescription['category'] {
  const head = bytes.subarray(0, 1024);
  const text = new TextDecoder(encodingOf(head)).decode(head).trimStart();
  if (text.startsWith('<')) return 'sbdh';
  if (text.startsWith('ISA')) return 'x12';
  return /^(UN[AB]|UIB)/.test(text) ? 'edifact' : 'unknown';
}

/** UTF-16 by its byte order mark, or by a first character that is ASCII and therefore half zero; else what ASCII is the same in. */
function encodingOf([a, b]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0)) return 'utf-16be';
  return (a === 0xff && b === 0xfe) || (a !== 0 && b === 0) ? 'utf-16le' : 'utf-8';
}

function describeInterchanges(interchanges: readonly Interchange[]) {
  const warnings = new Set<string>();
  for (const interchange of interchanges) for (const text of warningsOf(interchange)) warnings.add(text);
  const names = interchanges.map(nameOf);
  if (new Set(names).size < names.length) {
    const what = interchanges[0]?.syntax === 'x12' ? '(ISA06, ISA08, ISA13)' : '(sender, recipient, 0020)';
    warnings.add(`the same ${what} occurs twice in this file`);
  }
  return {
    interchangeCount: interchanges.length,
    interchanges: interchanges.map((one) => (one.syntax === 'edifact' ? describeEdifact(one) : describeX12(one))),
    ...(warnings.size === 0 ? {} : { warnings: [...warnings] }),
  };
}

/** What concerns the interchange as a whole; the rest stands in its `checks`. */
function isWarning({ level, kind }: Finding): boolean {
  return level === 'interchange' || kind === 'repeated';
}

function* warningsOf(interchange: Interchange): Iterable<string> {
  for (const finding of interchange.findings) if (isWarning(finding)) yield finding.text;
  if (interchange.syntax !== 'x12') return;
  if (interchange.groupCount === 0) yield 'no GS';
  if (interchange.groupsNameOthers) yield 'GS02/GS03 differ from ISA06/ISA08';
}

function nameOf(interchange: Interchange): string {
  if (interchange.syntax === 'x12') return JSON.stringify([6, 8, 13].map((index) => interchange.isa[index]));
  return JSON.stringify([interchange.sender, interchange.recipient, interchange.controlRef]);
}

function extentOf({ start, end, sha256, findings, acknowledgement, acknowledges }: Interchange) {
  const checks = findings.filter((finding) => !isWarning(finding));
  return {
    start, end, sha256,
    ...(checks.length === 0 ? {} : { checks }),
    ...(acknowledgement ? { acknowledgement } : {}),
    ...(acknowledges.length === 0 ? {} : { acknowledges }),
  };
}

function describeEdifact(interchange: EdifactInterchange) {
  const { syntax, start, end, sha256, findings, acknowledgement, acknowledges, groups, groupCount, messageRefs, ...named } = interchange;
  return {
    ...named,
    unbTerminated: true,
    ...(groups.length === 0 ? {} : { groups }),
    ...(messageRefs.length === 0 ? {} : { messageRefs }),
    ...extentOf(interchange),
  };
}

function describeX12(interchange: X12Interchange) {
  const { separators, isa, raw, groups, transactions, iea, ieaMatches, segments, binaryLengths } = interchange;
  const at = (index: number): string => isa[index] ?? '';
  return {
    fixedWidthISA: true,
    elementSeparator: separators.element,
    componentSeparator: separators.component,
    segmentTerminator: separators.terminator,
    ...(separators.repetition === undefined ? {} : { repetitionSeparator: separators.repetition }),
    ISA05: at(5), ISA06: at(6), ISA07: at(7), ISA08: at(8), ISA06raw: raw.ISA06, ISA08raw: raw.ISA08,
    ISA09: at(9), ISA10: at(10), ISA11: at(11), ISA12: at(12), ISA13: at(13), ISA14: at(14), ISA15: at(15),
    ...(groups.length === 0 ? {} : { groups }),
    ...(transactions.length === 0 ? {} : { transactions }),
    IEA: iea,
    segments,
    ...(binaryLengths.length === 0 ? {} : { binaryLengths }),
    ieaMatches,
    ...extentOf(interchange),
  };
}
