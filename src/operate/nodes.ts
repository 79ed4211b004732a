import type { Ledger } from '../ledger/port.js';
import { NODES } from '../ledger/shelves.js';

/** What a server process says of itself every few seconds, for `as4-once status` on whatever machine. */
export interface NodeReport {
  readonly node: string;
  readonly pid: number;
  readonly version: string;
  readonly role: string;
  /** SHA-256 of the configuration in force. */
  readonly config: string;
  /** Epoch ms of its own clock. */
  readonly started: number;
  readonly at: number;
  /** Answers of the last minute. */
  readonly lastMinute: Readonly<Record<string, number>>;
  readonly waiting: number;
  readonly underWay: number;
  readonly journal: number;
  /** Round trip to the ledger, ms. */
  readonly ledgerMs?: number;
  readonly behind?: string;
  /** ISO time of its end, and why. */
  readonly bypass?: string;
}

/** A node that has said nothing for so long is gone, ms. */
export const SILENT = 60_000;
const KEPT = 24 * 3_600_000;

export async function reportNode(ledger: Pick<Ledger, 'note'>, by: string, report: NodeReport): Promise<void> {
  await ledger.note({ shelf: NODES, entries: { [by]: JSON.stringify(report) }, keptMs: KEPT });
}

/** A process that ends orderly takes its report along. */
export async function dropNode(ledger: Pick<Ledger, 'note'>, by: string): Promise<void> {
  await ledger.note({ shelf: NODES, entries: { [by]: null }, keptMs: KEPT });
}

/** The reports that stand, newest first; those of processes that were killed a day ago are removed. */
export async function readNodes(ledger: Pick<Ledger, 'note' | 'notes'>, now: number): Promise<readonly NodeReport[]> {
  const reports: NodeReport[] = [];
  const old: Record<string, null> = {};
  for (const [by, text] of await ledger.notes(NODES)) {
    const report = parsed(text);
    if (report === undefined || now - report.at > KEPT) old[by] = null;
    else reports.push(report);
  }
  if (Object.keys(old).length > 0) await ledger.note({ shelf: NODES, entries: old, keptMs: KEPT });
  return reports.sort((a, b) => b.at - a.at);
}

function parsed(text: string): NodeReport | undefined {
  try {
    const report = JSON.parse(text) as Partial<NodeReport>;
    return typeof report.node === 'string' && typeof report.at === 'number' && typeof report.config === 'string'
      ? (report as NodeReport)
      : undefined;
  } catch {
    return undefined;
  }
}
