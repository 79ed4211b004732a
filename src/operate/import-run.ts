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

/** Lines in work at a time: enough for one transaction to take many, little enough to hold. */
const BATCH = 4_000;
/** A slow disk, or a failover, does not end an import: each write is tried so often, and so long apart (ms). */
const TRIES = 6;
const PAUSE = 500;
const PROBLEMS = 20;

/**
 * Brings records into the ledger. Nothing that stands is overwritten, so an import that was interrupted is finished by
 * running it again. Lines about attempts without a certain outcome come last: another line may know how they ended.
 */
export async function runImport({ file, ledger, context, write, clock, progress }: ImportOptions): Promise<ImportRun> {
  const counts: ImportCounts = {
    lines: 0,
    fresh: 0,
    withReceipt: 0,
    uncertain: 0,
    standing: 0,
    expired: 0,
    other: 0,
    bad: 0,
  };
  const problems: { line: number; why: string }[] = [];
  const { now } = await ledger.meta();
  const last: LedgerRecord[] = [];
  let batch: (() => Promise<void>)[] = [];
  let writing: Promise<unknown> = Promise.resolve();
  const take = async (record: LedgerRecord): Promise<void> => {
    if (record.state !== 'open' && Math.max(record.born + record.window + record.late, record.keptUntil ?? 0) <= now) {
      counts.expired += 1;
      return;
    }
    const free = write
      ? await patiently(clock, () => ledger.adopt(record))
      : (await ledger.find(record.key)) === undefined;
    if (!free) {
      counts.standing += 1;
      return;
    }
    counts.fresh += 1;
    if (record.state === 'settled') counts.withReceipt += 1;
    if (record.state !== 'settled' && record.state !== 'known') counts.uncertain += 1;
  };
  // one batch is read while the one before it is written
  const send = async (): Promise<void> => {
    const ready = batch;
    batch = [];
    await writing;
    writing = Promise.all(ready.map((work) => work()));
    writing.catch(() => undefined);
  };
  const add = async (work: () => Promise<void>): Promise<void> => {
    batch.push(work);
    if (batch.length >= BATCH) await send();
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
      if (write) await add(() => patiently(clock, () => ledger.note(said.note)));
    } else if (said.record.state === 'open') last.push(said.record);
    else await add(() => take(said.record));
  }
  await send();
  await writing;
  for (const record of last) await take(record);
  return { ...counts, problems };
}

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
