import type { Ledger, LedgerMeta, LedgerStats } from '../ledger/port.js';
import { readNodes, SILENT, type NodeReport } from './nodes.js';

/** More than so many of a list say the same. */
const COUNTED = 10_000;

export interface Status {
  readonly ledger: {
    readonly engine: string;
    readonly meta: LedgerMeta;
    readonly stats: LedgerStats;
    readonly pingMs: number;
    readonly held: number;
    readonly uncertain: number;
    readonly inFlight: number;
  };
  /** Servers that said something within the last minute, and those that went silent without saying goodbye. */
  readonly nodes: readonly (NodeReport & { readonly silent: boolean; readonly sameConfig: boolean })[];
}

/** What all servers of a ledger are doing, asked of the ledger alone. `digest` is that of the configuration at hand. */
export async function readStatus(ledger: Ledger, digest: string, now: number): Promise<Status> {
  const count = async (what: 'held' | 'uncertain' | 'inFlight'): Promise<number> =>
    (await ledger.list(what, COUNTED)).length;
  const meta = await ledger.meta();
  const [stats, ping, held, uncertain, inFlight, nodes] = await Promise.all([
    ledger.stats(),
    ledger.ping(),
    count('held'),
    count('uncertain'),
    count('inFlight'),
    readNodes(ledger, now),
  ]);
  return {
    ledger: { engine: ledger.name, meta, stats, pingMs: ping.ms, held, uncertain, inFlight },
    nodes: nodes.map((node) => ({ ...node, silent: now - node.at > SILENT, sameConfig: node.config === digest })),
  };
}
