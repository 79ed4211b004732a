import type { DuplicateKey } from './record.js';

/** Names of the shelves on which notes lie (port: G14). */

/** The kept root part of a message (`keepHeader`): raw DEFLATE in base64, and when it was taken. */
export const rootShelf = (key: DuplicateKey): string => `root/${key}`;
export const ROOT_NAME = 'root';
export const ROOT_SEEN = 'kept';

/** Heartbeats of the processes that use the ledger. */
export const NODES = 'nodes';

/** Tallies of one day (UTC): `2026-12-01`. */
export const tallyShelf = (day: string): string => `tally/${day}`;

/** How far each process has walked the ledger after its windows changed. */
export const WINDOWS = 'windows';
