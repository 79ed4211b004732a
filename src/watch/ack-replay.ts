import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerRecord } from '../ledger/record.js';
import type { Finding } from './claim-unit.js';
import { moveInto } from './move-into.js';
import { openAcks, storeAcks } from './stored-acks.js';
import { workName, type WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/** A partner that repeats itself gets the acknowledgement again, but a machine gone wild gets no storm: so often … */
const MOST = 3;
/** … within so long, ms. */
const WITHIN = 86_400_000;

/** Puts the acknowledgements of repeated messages out again, each message's own, bounded; an acknowledgement gets none. */
export async function replayAcks(watching: Watching, file: WorkFile, duplicates: readonly Extract<Finding, { kind: 'duplicate' }>[]): Promise<void> {
  if (watching.config.folders.ackOut === undefined) return;
  const seen = new Set<string>();
  for (const { unit, record, key } of duplicates) {
    if (unit.acknowledgement || unit.rule.ack === 'none' || seen.has(key)) continue;
    seen.add(key);
    await replay(watching, file, key, record);
  }
}

async function replay(watching: Watching, file: WorkFile, key: string, record: LedgerRecord): Promise<void> {
  const { clock, ledger } = watching;
  const stored = openAcks(record.reply);
  if (stored === undefined || stored.acks.length === 0) return;
  const recent = stored.replays.filter((when) => when > clock.now() - WITHIN);
  if (recent.length >= MOST) return;
  for (const { name, bytes, sha256 } of stored.acks) await putOut(watching, file, name, Buffer.from(bytes, 'base64'), sha256);
  await ledger.attach({ key, reply: storeAcks({ ...stored, replays: [...recent, clock.now()] }) });
}

/** Through work, like every file, under a token of its own that is the same after a crash. */
async function putOut(watching: Watching, file: WorkFile, name: string, bytes: Uint8Array, sha256: string): Promise<void> {
  const token = createHash('sha256').update(`${file.token} ${sha256}`).digest('hex').slice(0, 24);
  const ack: Omit<WorkFile, 'path'> = { watcher: watching.id, token, accepted: false, kind: 'acknowledgement', name };
  const path = join(watching.config.folders.work, `.${workName(ack)}`);
  await writeFile(path, bytes);
  await moveInto(watching, { ...ack, path }, 'ackOut');
}
