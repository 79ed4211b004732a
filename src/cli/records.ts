import { userInfo, hostname } from 'node:os';
import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load.js';
import { As4OnceError } from '../errors.js';
import type { Ledger } from '../ledger/port.js';
import type { Decision, LedgerRecord } from '../ledger/record.js';
import { openLedger } from '../open-ledger.js';
import type { Io } from './io.js';

/** Options that every command on records takes. */
export const RECORD_OPTIONS = {
  config: { type: 'string' },
  key: { type: 'string' },
  from: { type: 'string' },
  type: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** The configuration named by --config or AS4_ONCE_CONFIG. */
export function configured(file: string | undefined, io: Io): Config {
  const named = file ?? io.env['AS4_ONCE_CONFIG'];
  if (named === undefined) throw new As4OnceError('USAGE', 'name the configuration with --config FILE or AS4_ONCE_CONFIG');
  return loadConfig(named, { env: io.env });
}

/** Opens the configuration's ledger for one command, beside the servers that use it, and closes it again. */
export async function withLedger<T>(config: Config, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger(config, undefined, true);
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

/** Exactly one record, or a clear word why not. */
export function theOne(records: readonly LedgerRecord[], id: string | undefined): LedgerRecord {
  const [first] = records;
  if (first === undefined) throw new As4OnceError('NOT_FOUND', id === undefined ? 'no record of this key' : `no record of ${JSON.stringify(id)}`);
  if (records.length > 1) {
    const senders = records.map((record) => `--key ${record.key} (from ${record.facts.from.map((p) => p.value).join(',')})`);
    throw new As4OnceError('USAGE', `${records.length} records of this id; choose one: ${senders.join('; ')}`);
  }
  return first;
}

/** The one id of the command line; a second one would be passed over in silence. */
export function oneId(positionals: readonly string[]): string | undefined {
  if (positionals.length > 1) throw new As4OnceError('USAGE', `one message id at a time, not ${positionals.length}; quote an id that holds spaces`);
  return positionals[0];
}

/** Who decides, when and why: written into the record. */
export function decision(what: Decision['what'], reason: string | undefined, now: number): Decision {
  if (reason === undefined || reason.trim() === '') throw new As4OnceError('USAGE', 'a reason is needed: --reason TEXT');
  return { what, who: `${userName()}@${hostname()}`, when: now, reason };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a container without a passwd entry
  }
}
