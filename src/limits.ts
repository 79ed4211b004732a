/** Every bound of the walk, with its unit; `limits:` and `times:` of the configuration override them. */

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/** Sizes and counts. Units: bytes where the name is a thing, otherwise a count. */
export const LIMITS = {
  /** Root (SOAP) MIME part, bytes. */
  rootPart: 1 * MiB,
  /** Element nesting in the envelope (deep nesting costs a parser quadratic time). */
  depth: 64,
  /** MIME parts in one package. */
  parts: 1_000,
  /** Header bytes of one MIME part. */
  partHeaders: 16 * KiB,
  /** eb:MessageId, UTF-8 bytes. The standards set no bound (ebMS Core 5.2.2.1). */
  messageId: 255,
  /** One PartyId, UTF-8 bytes. */
  partyId: 255,
  /** Whole request body, bytes, as it comes on the wire. */
  maxBody: 128 * MiB,
  /** Request body bytes kept in memory before the spool file is used. */
  memoryPerBody: 256 * KiB,
  /** All bodies in memory together, bytes. */
  spoolMemory: 64 * MiB,
  /** All spool files together, bytes; beyond it 503. */
  spoolDisk: 8 * GiB,
  /** Stored reply, bytes; a larger one is passed on but cannot be replayed. */
  maxReply: 1 * MiB,
  /** Copies waiting for one key. */
  waitersPerKey: 128,
  /** Copies waiting in this process. */
  waiters: 1_000,
  /** Slowest sender, bytes per second, averaged over bodyIdle. */
  minRate: 1 * KiB,
  /** Bytes of a refused body that are read and thrown away before the connection is closed. */
  drain: 256 * MiB,
  /** Attempts kept in a record, newest last. */
  attempts: 8,
};
export type Limits = typeof LIMITS;

/** Durations, milliseconds. `check` wants lease < wait < answerBy < patience and window >= 2 x patience. */
export const TIMES = {
  /** Request headers must be complete within. */
  headers: 10_000,
  /** Longest pause in a request body. */
  bodyIdle: 20_000,
  /** How long a claim is ours without renewal. */
  lease: 20_000,
  /** How often a live claim is renewed. */
  renew: 5_000,
  /** How long a copy waits for the copy in progress. */
  wait: 25_000,
  /** How long a request is held while the ledger cannot be reached. */
  ledgerOutage: 20_000,
  /** How long a refused upstream connection is tried again from the spool. */
  upstreamOutage: 20_000,
  /** From the end of the request body to the answer, waiting included; beyond it 504 while the attempt goes on. */
  answerBy: 115_000,
  /** How long a late answer of the access point is awaited, judged and settled. */
  patience: 600_000,
  /** How long a settle is tried before the reply goes to the journal. */
  settle: 10_000,
  /** Retry-After of a 503, spread by half either way. */
  retryAfter: 5_000,
  /** Retry-After of a held message. */
  retryAfterHeld: 60_000,
  /** Polling for a wake-up that was lost. */
  poll: 500,
  /** What is in flight at SIGTERM may take this long. */
  shutdownGrace: 120_000,
  /** How long `open` without any uncertain attempt is kept (at most the window). */
  openKept: 86_400_000,
};
export type Times = typeof TIMES;
