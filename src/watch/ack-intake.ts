import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { acknowledged, type Named } from '../edi/acknowledged.js';
import type { Acknowledgement, Interchange } from '../edi/interchange.js';
import { interchangesOf } from '../edi/read-interchanges.js';
import { As4OnceError } from '../errors.js';
import type { LedgerRecord } from '../ledger/record.js';
import { duplicateKey, referencePrefix } from '../policy/key.js';
import { selectRule } from '../policy/select.js';
import { fileName, keysByName, namesBehind } from './ack-names.js';
import { moveInto } from './move-into.js';
import { openAcks, storeAcks, type StoredAck } from './stored-acks.js';
import type { WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/** An acknowledgement file is kept in memory while it is matched; translators write kilobytes. */
const LARGEST = 16 * 1024 * 1024;
/** Tries to add an acknowledgement to a record that another watcher adds to at the same moment. */
const TRIES = 10;

/** One acknowledgement, and the message it is about. */
interface Match {
  readonly key: string;
  readonly verdict: Acknowledgement['verdict'];
  readonly kind: string;
  readonly says: string;
  readonly bytes: Buffer;
}

/**
 * An acknowledgement that the translator wrote: noted with the messages it is about, then passed on to where the transfer
 * tool picks it up. A negative one takes the acceptance back, so that a corrected file under the old number is a first
 * copy. One that is about nothing we know is passed on all the same.
 */
export async function processAck(watching: Watching, file: WorkFile): Promise<void> {
  watching.step('ack');
  const matches = (await stat(file.path)).size > LARGEST ? [] : await match(watching, file, await readFile(file.path));
  for (const found of matches) {
    if (found.verdict === 'negative') await revoke(watching, file, found);
    else await attach(watching, file, found);
    watching.step('recorded');
  }
  if (matches.length === 0) {
    watching.events.emit('fault', { code: 'NOT_FOUND', detail: `the acknowledgement ${file.name} is about no message that ${watching.config.name} knows` });
  }
  await moveInto(watching, file, 'ackOut');
}

/** By what the file says, and where it says nothing that we know, by its name. */
async function match(watching: Watching, file: WorkFile, bytes: Buffer): Promise<Match[]> {
  const found: Match[] = [];
  const carriers = read(bytes);
  for (const carrier of carriers) {
    // the file as it is, line breaks and all, where it holds nothing else
    const own = carriers.length === 1 ? bytes : bytes.subarray(carrier.start, carrier.end);
    for (const ack of carrier.acknowledges) {
      for (const key of await keysOf(watching, ack, carrier)) found.push({ key, verdict: ack.verdict, kind: ack.kind, says: JSON.stringify(ack), bytes: own });
    }
  }
  if (found.length > 0) return found;
  for (const name of namesBehind(file.name)) {
    const keys = await keysByName(watching, fileName(watching, name));
    if (keys.length > 0) {
      return keys.map((key) => ({ key, verdict: 'positive', kind: 'file', says: `named like ${name}`, bytes }));
    }
  }
  return [];
}

function read(bytes: Buffer): readonly Interchange[] {
  try {
    return interchangesOf(bytes);
  } catch (error) {
    if (error instanceof As4OnceError) return [];
    throw error;
  }
}

/** The keys of the messages that an acknowledgement is about: by their names in the ledger, else by their reference. */
async function keysOf(watching: Watching, ack: Acknowledgement, carrier: Interchange): Promise<readonly string[]> {
  const { ledger, config, rules } = watching;
  const { message, tests } = acknowledged(ack, carrier);
  if (message.protocol !== config.protocol) return [];
  for (const test of tests) {
    const told: Named & { readonly extra: Readonly<Record<string, string>> } = { ...message, extra: { ...message.extra, test } };
    if (message.type !== undefined) {
      const keys = await keysByName(watching, told);
      if (keys.length > 0) return keys;
      continue;
    }
    const { key } = selectRule(rules, told);
    const complete = !key.includes('+content') && (!key.includes('+datetime') || told.extra['datetime'] !== undefined);
    if (!complete) continue;
    const found = await ledger.find(duplicateKey(told, key, config.scope));
    if (found !== undefined) return [found.record.key];
  }
  if (message.type !== undefined) return [];
  for await (const record of ledger.findReference(referencePrefix(message.protocol, config.scope, message.reference))) {
    if (isAbout(message.facts, record)) return [record.key];
  }
  return [];
}

function isAbout({ from, to }: LedgerRecord['facts'], { facts, pointer }: LedgerRecord): boolean {
  if (pointer !== undefined) return false;
  return [[from, facts.from], [to, facts.to]].every(([told, own]) =>
    told?.[0]?.value === own?.[0]?.value && (told?.[0]?.type === undefined || told[0].type === own?.[0]?.type));
}

async function attach(watching: Watching, file: WorkFile, found: Match): Promise<void> {
  const { ledger, limits, events } = watching;
  const ack: StoredAck = {
    name: file.name, kind: found.kind, verdict: found.verdict,
    sha256: createHash('sha256').update(found.bytes).digest('hex'), bytes: found.bytes.toString('base64'),
  };
  for (let n = 0; n < TRIES; n += 1) {
    const record = (await ledger.find(found.key))?.record;
    const stored = openAcks(record?.reply);
    if (record === undefined || record.state !== 'settled') return;
    if (stored?.acks.some(({ name, sha256 }) => name === ack.name && sha256 === ack.sha256) === true) return;
    const reply = storeAcks({ token: record.token ?? '', replays: [], ...stored, acks: [...(stored?.acks ?? []), ack] });
    if (reply.length > limits.maxReply) {
      events.emit('replyTooLarge', { key: found.key, messageId: record.reference, bytes: reply.length });
      return;
    }
    // read again: two watchers may have written at once, and the later one wins
    if ((await ledger.attach({ key: found.key, reply })).kind !== 'ok') return;
  }
}

/** Once only: after a crash the same acknowledgement must not take back what was accepted since. */
async function revoke({ ledger, clock, owner }: Watching, file: WorkFile, { key, says, bytes }: Match): Promise<void> {
  const mark = `${file.name} ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;
  const record = (await ledger.find(key))?.record;
  if (record?.decisions?.some(({ what, reason }) => what === 'revoke' && reason.startsWith(mark)) === true) return;
  await ledger.revoke({ key, decision: { what: 'revoke', who: `as4-once watch@${owner.node || hostname()}`, when: clock.now(), reason: `${mark}: ${says.slice(0, 300)}` } });
}
