import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { claimFor } from '../delivery/claim.js';
import type { Named } from '../edi/acknowledged.js';
import type { StoredReply } from '../ledger/record.js';
import type { Message } from '../message.js';
import { duplicateKey } from '../policy/key.js';
import { openReply, storeReply } from '../receipt/stored-reply.js';
import type { Unit } from './units.js';
import type { WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/**
 * Names under which an acknowledgement may come for a message: functional groups (997 and 999 do not tell ISA13) and file
 * names. Each is a settled record of its own whose stored reply names the keys of the newest message of that name; group
 * and file names are reused, control numbers are not.
 */
const NAMES_TYPE = 'application/vnd.as4-once.keys+json';
export const FILE = 'file';

/** Notes the names of the messages of a file that is about to be delivered. */
export async function noteNames(watching: Watching, file: WorkFile, units: readonly { readonly unit: Unit; readonly key: string }[]): Promise<void> {
  for (const { unit, key } of units) for (const group of unit.groups) await note(watching, group, unit, [key]);
  const [first] = units;
  if (first === undefined) return;
  for (const name of namesOf(file.name)) await note(watching, fileName(watching, name), first.unit, units.map(({ key }) => key));
}

/** The keys of the newest messages of that name; [] where there are none. */
export async function keysByName({ ledger, config }: Watching, name: Named): Promise<readonly string[]> {
  const found = await ledger.find(duplicateKey(name, 'reference+sender+recipient', config.scope));
  const reply = found?.record.reply;
  if (reply === undefined || reply.contentType !== NAMES_TYPE) return [];
  return JSON.parse(Buffer.from(openReply(reply)).toString('utf8')) as string[];
}

export function fileName({ config }: Watching, name: string): Named {
  return { protocol: config.protocol, type: FILE, reference: name, facts: { from: [], to: [] }, signed: false };
}

/** `orders.edi` and `orders`: an acknowledgement is named like one of them, with an extension of its own. */
function namesOf(name: string): string[] {
  return [...new Set([name, name.slice(0, name.length - extname(name).length)])];
}

/** The names an acknowledgement's file name may stand for: itself, and what is left when extensions are taken off. */
export function namesBehind(name: string): string[] {
  const names = [name];
  for (let rest = name; extname(rest) !== ''; names.push(rest)) rest = rest.slice(0, rest.length - extname(rest).length);
  return names;
}

async function note(watching: Watching, name: Named, { rule }: Unit, keys: readonly string[]): Promise<void> {
  const { ledger, config, owner, times, clock } = watching;
  const key = duplicateKey(name, 'reference+sender+recipient', config.scope);
  const reply = storeReply({ status: 200, contentType: NAMES_TYPE, body: Buffer.from(JSON.stringify(keys)) });
  if (await replaced(watching, key, reply, rule.window)) return;
  const fingerprint = `plain:${createHash('sha256').update(key).digest('hex')}`;
  const message: Message = { ...name, fingerprint };
  const token = clock.id();
  const claim = claimFor({ key, message, rule: { ...rule, uncertain: 'redeliver' }, times, owner, scope: config.scope, take: true, token, remembersMs: 0 });
  const answer = await ledger.claim(claim);
  if (answer.kind === 'claimed') await ledger.settle({ key, token, fingerprint, reply, beganMsAgo: 0, claim });
  // another file of the same name is being noted at this moment: the newer of the two is as good as the other
  else await replaced(watching, key, reply, rule.window);
}

/** Puts the newest keys into a standing record, and keeps it for about a whole window from now on. */
async function replaced({ ledger, clock }: Watching, key: string, reply: StoredReply, windowMs: number): Promise<boolean> {
  const answer = await ledger.attach({ key, reply });
  if (answer.kind !== 'ok') return false;
  const age = Math.max(0, clock.now() - answer.record.born);
  if (age > windowMs / 10) await ledger.extend({ key, windowMs: age + windowMs, lateMs: 0 });
  return true;
}
