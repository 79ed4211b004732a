import type { Place } from './broken.js';
import type { Interchange } from './interchange.js';
import type { Ending, SegmentSink } from './segments.js';

/** What a head says: how many bytes it must show, or how its segments end and where in it they begin. */
export type Head =
  | { readonly need: number }
  | {
      readonly ending: Ending;
      /** Index in the head at which segments begin. */
      readonly from: number;
      /** Segments that the head itself held. */
      readonly read: number;
    };

/** One family of interchanges: reads the head of one (separators and opening), then its segments. */
export interface Syntax extends SegmentSink {
  readonly name: 'edifact' | 'x12';
  /** What may be why an interchange does not end, behind the words that say so; '' where nothing may. */
  readonly remark: string;
  /** Tags it wants to see, by their first two bytes (segments.ts, tagTable). */
  readonly wanted: Uint8Array;
  /** The first bytes of an interchange that begins at file offset `offset`; called with more bytes until they suffice. */
  head(head: Uint8Array, offset: number): Head;
  /**
   * The file ends in this segment, which has no terminator. True where it is the trailer and its reference is the
   * header's to the last character, so that nothing but the terminator can be missing.
   */
  unterminated(bytes: Buffer, place: Place): boolean;
  /** The interchange that has just ended. */
  finish(extent: { readonly start: number; readonly end: number; readonly sha256: string }, segments: number): Interchange;
}
