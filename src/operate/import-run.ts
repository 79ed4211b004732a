import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import type { Ledger } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import { linesOf } from './lines.js';
import type { ImportContext } from './import-context.js';
import { readLine } from './import-line.js';

export interface ImportCounts {
  lines: number;
  /** Written, or would be. */
  fresh: number;
  /** Of those, with a Receipt, and with nothing certain. */
  withReceipt: number;
  uncertain: number;
  /** The ledger has a record of the message already; it stays as it is. */
  standing: number;
  /** Its window is over. */
  expired: number;
  /** Lines that say nothing about an accepted message. */
  other: number;
  bad: number;
}

export interface ImportRun extends ImportCounts {
  /** The first bad lines. */
  readonly problems: readonly { readonly line: number; readonly why: string }[];
}

export interface ImportOptions {
  readonly file: string;
  readonly ledger: Ledger;
  readonly context: ImportContext;
  /** False: only counts. */
  readonly write: boolean;
  readonly clock: Clock;
  /** Told of the lines done, every now and then. */
  progress?(lines: number): void;
}

/**
 * Records in one step of the ledger: many, because a step costs a sync of the disk; few enough that servers which write
 * the same ledger wait for about so long (ms). And no more than so many bytes of lines in memory.
 */
const BATCH = { first: 4_000, least: 500, most: 16_000, bytes: 16 * 1024 * 1024, takes: 1_000 };
/** A slow disk, or a failover, does not end an import: each write is tried so often, and so long apart (ms). */
const TRIES = 6;
const PAUSE = 500;
const PROBLEMS = 20;

/**
 * Brings records into the ledger. Nothing that stands is overwritten, so an import that was interrupted is finished by
 * running it again. Lines about attempts without a certain outcome come last: another line may know how they ended.
 */
export async function runImport({ file, ledger, context, write, clock, progress }: ImportOptions): Promise<ImportRun> {
  const counts = { lines: 0, fresh: 0, withReceipt: 0, uncertain: 0, standing: 0, expired: 0, other: 0, bad: 0 };
  const problems: { line: number; why: string }[] = [];
  const { now } = await ledger.meta();
  const last: LedgerRecord[] = [];
  let batch: LedgerRecord[] = [];
  let bytes = 0;
  let size: number = BATCH.first;
  let writing: Promise<void> = Promise.resolve();
  // one batch is read while the one before it is written
  const send = async (): Promise<void> => {
    const ready = batch;
    batch = [];
    bytes = 0;
    await writing;
    const began = clock.monotonic();
    writing = bring(ready, { ledger, write, clock, now }, counts).then(() => {
      size = nextSize(size, clock.monotonic() - began);
    });
    writing.catch(() => undefined);
  };
  const add = async (record: LedgerRecord, length: number): Promise<void> => {
    batch.push(record);
    bytes += length;
    if (batch.length >= size || bytes >= BATCH.bytes) await send();
  };
  for await (const { number, text } of linesOf(file)) {
    counts.lines += 1;
    if (counts.lines % 10_000 === 0) progress?.(counts.lines);
    const said = readLine(text, context);
    if (said.kind === 'bad') {
      counts.bad += 1;
      if (problems.length < PROBLEMS) problems.push({ line: number, why: said.why });
    } else if (said.kind === 'other') counts.other += 1;
    else if (said.kind === 'note') {
      counts.other += 1;
      if (write) await patiently(clock, () => ledger.note(said.note));
    } else if (said.record.state === 'open') last.push(said.record);
    else await add(said.record, text.length);
  }
  await send();
  await writing;
  for (const record of last) await add(record, 0);
  await send();
  await writing;
  return { ...counts, problems };
}

/** Towards what takes as long as it should, at most twice as many as before. */
function nextSize(size: number, took: number): number {
  const fitting = Math.round(size * Math.min(2, BATCH.takes / Math.max(took, 1)));
  return Math.max(BATCH.least, Math.min(BATCH.most, fitting));
}

/** One batch, in the order of its lines. */
async function bring(
  records: readonly LedgerRecord[],
  { ledger, write, clock, now }: Pick<ImportOptions, 'ledger' | 'write' | 'clock'> & { readonly now: number },
  counts: ImportCounts,
): Promise<void> {
  const current = records.filter((record) => !isOver(record, now));
  counts.expired += records.length - current.length;
  const free = write
    ? await patiently(clock, () => ledger.adoptAll(current))
    : await Promise.all(current.map(async ({ key }) => (await ledger.find(key)) === undefined));
  for (const [i, { state }] of current.entries()) {
    if (free[i] !== true) {
      counts.standing += 1;
      continue;
    }
    counts.fresh += 1;
    if (state === 'settled') counts.withReceipt += 1;
    if (state !== 'settled' && state !== 'known') counts.uncertain += 1;
  }
}

const isOver = ({ state, born, window, late, keptUntil }: LedgerRecord, now: number): boolean =>
  state !== 'open' && Math.max(born + window + late, keptUntil ?? 0) <= now;

async function patiently<T>(clock: Clock, write: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await write();
    } catch (error) {
      if (tried === TRIES || !(error instanceof As4OnceError) || error.code !== 'LEDGER_DOWN') throw error;
      await clock.sleep(PAUSE);
    }
  }
}
