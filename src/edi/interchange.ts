import type { Unb } from './unb.js';
import type { Finding } from './broken.js';

/** Interchanges as read from their envelopes, with where they lie in the file. */

/** Different message types kept of one interchange. */
export const LISTED_TYPES = 20;

/** Lists kept of one interchange (messages, groups, acknowledgements); the counts beside them go on. */
export const LISTED = 10_000;

interface Extent {
  /** File offset of the first byte (UNA, where there is one, belongs to its interchange). */
  readonly start: number;
  /** File offset behind the last terminator; line breaks after it belong to nobody. */
  readonly end: number;
  /** SHA-256 of the bytes from start to end, hex; '' where the reader was told not to digest. */
  readonly sha256: string;
  readonly findings: readonly Finding[];
  /** Holds nothing but acknowledgements (CONTRL; TA1, 997, 999), so it must not be acknowledged. */
  readonly acknowledgement: boolean;
  readonly acknowledges: readonly Acknowledgement[];
  /** The different types of its messages (UNH 0065) or transaction sets (ST01), in order. */
  readonly messageTypes: readonly string[];
}

/** An EDIFACT interchange (ISO 9735, syntax versions 1 to 4). Absent means empty or not there. */
export interface EdifactInterchange extends Extent, Unb {
  readonly syntax: 'edifact';
  /** The nine characters of the service string advice. */
  readonly una?: string;
  readonly delimiters: {
    readonly component: string;
    readonly element: string;
    readonly decimal: string;
    readonly release?: string;
    readonly repetition?: string;
    readonly terminator: string;
  };
  readonly groups: readonly { readonly type?: string; readonly ref?: string }[];
  readonly groupCount: number;
  readonly messageRefs: readonly string[];
  readonly messageCount: number;
  readonly unz: { readonly count?: string; readonly ref?: string };
  readonly unzMatches: boolean;
}

/** An X12 interchange. Party ids are without their padding; `raw` keeps it. */
export interface X12Interchange extends Extent {
  readonly syntax: 'x12';
  readonly separators: {
    readonly element: string;
    readonly component: string;
    readonly terminator: string;
    readonly repetition?: string;
  };
  /** ISA01 to ISA16 at index 1 to 16, padding removed. */
  readonly isa: readonly string[];
  readonly raw: { readonly ISA06: string; readonly ISA08: string };
  readonly groups: readonly X12Group[];
  readonly groupCount: number;
  /** [ST01, ST02] */
  readonly transactions: readonly (readonly [string, string])[];
  readonly transactionCount: number;
  readonly iea: readonly [count: string, ref: string];
  readonly ieaMatches: boolean;
  readonly segments: number;
  /** A group names other parties (GS02, GS03) than the interchange does: usual behind VANs and departments. */
  readonly groupsNameOthers: boolean;
  readonly binaryLengths: readonly number[];
}

export interface X12Group {
  readonly GS01: string;
  readonly GS02: string;
  readonly GS03: string;
  readonly GS06: string;
  readonly GS08: string;
}

export type Interchange = EdifactInterchange | X12Interchange;

/** `partial`: some messages of a group were accepted and some were not; that decides nothing about the interchange. */
export type Verdict = 'positive' | 'negative' | 'partial';

/** What an acknowledgement says of another interchange. Parties as the acknowledged interchange had them where it says so. */
export type Acknowledgement =
  | {
      readonly kind: 'CONTRL';
      readonly verdict: Verdict;
      /** UCI 0020 of the acknowledged interchange, and its sender and recipient. */
      readonly controlRef: string;
      readonly sender: string;
      readonly senderQualifier?: string;
      readonly recipient: string;
      readonly recipientQualifier?: string;
      /** 0083: 4 rejected, 7 acknowledged, 8 received. */
      readonly action: string;
      /** 0085, for example 26: duplicate detected. */
      readonly error?: string;
    }
  | {
      readonly kind: 'TA1';
      readonly verdict: Verdict;
      /** TA101 (ISA13), TA102 (ISA09), TA103 (ISA10), TA104 (A, E, R), TA105 (note). */
      readonly controlNumber: string;
      readonly date: string;
      readonly time: string;
      readonly code: string;
      readonly note: string;
    }
  | {
      readonly kind: '997' | '999';
      readonly verdict: Verdict;
      /** AK101 (GS01) and AK102 (GS06) of the acknowledged group. */
      readonly functionalId: string;
      readonly groupNumber: string;
      /** AK901, or '' where AK9 is missing. */
      readonly code: string;
      /** How many transaction sets AK5 or IK5 accepted and rejected. */
      readonly accepted: number;
      readonly rejected: number;
    };
