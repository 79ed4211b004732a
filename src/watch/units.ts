import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { EdiBroken, strictFinding } from '../edi/broken.js';
import { groupsOf, type Named } from '../edi/acknowledged.js';
import type { Interchange } from '../edi/interchange.js';
import { messageOf, sbdhMessage } from '../edi/message-of.js';
import { readInterchanges } from '../edi/read-interchanges.js';
import { BusinessDocumentReader } from '../edi/sbdh.js';
import { As4OnceError } from '../errors.js';
import type { Message } from '../message.js';
import { duplicateKey, withContent, withSender } from '../policy/key.js';
import type { Rule } from '../policy/rule.js';
import { selectRule } from '../policy/select.js';
import type { Watching } from './watching.js';

/** What reading needs of a watched folder; a command that reads a single file has no more. */
export type Reading = Pick<Watching, 'rules' | 'limits'> & { readonly config: Pick<Watching['config'], 'protocol' | 'scope'> };

/** One message of a file: an interchange, or the business document that the file is. */
export interface Unit {
  readonly message: Message;
  readonly rule: Rule;
  /** Where it lies in the file. */
  readonly start: number;
  readonly end: number;
  readonly key: string;
  readonly previous?: string;
  readonly withContent: string;
  readonly withSender: string;
  /** The names under which an acknowledgement may come (X12 functional groups). */
  readonly groups: readonly Named[];
  /** It is nothing but an acknowledgement itself, and so never acknowledged. */
  readonly acknowledgement: boolean;
}

export interface Contents {
  readonly size: number;
  /** In file order. */
  readonly units: readonly Unit[];
}

const CHUNK = 256 * 1024;

export function streamOf(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: CHUNK });
}

/** Reads a whole file and finds the rule of each of its messages. Throws EDI_BROKEN or SBDH_BROKEN for a file to refuse. */
export async function readContents(watching: Reading, path: string): Promise<Contents> {
  return watching.config.protocol === 'sbdh' ? await readDocument(watching, path) : await readEdi(watching, path, watching.config.protocol);
}

async function readEdi(watching: Reading, path: string, syntax: 'edifact' | 'x12'): Promise<Contents> {
  let size = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    for await (const chunk of streamOf(path)) {
      size += chunk.length;
      yield chunk;
    }
  }
  const interchanges = await readInterchanges(counted(), { syntax });
  return { size, units: interchanges.map((interchange) => unitOf(watching, messageOf(interchange), interchange)) };
}

async function readDocument(watching: Reading, path: string): Promise<Contents> {
  const reader = new BusinessDocumentReader(watching.limits);
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of streamOf(path)) {
    reader.push(chunk);
    hash.update(chunk);
    size += chunk.length;
  }
  const { header, root } = reader.end();
  if (header === undefined) throw new As4OnceError('SBDH_BROKEN', `no StandardBusinessDocument but ${root.slice(0, 80)}`);
  return { size, units: [unitOf(watching, sbdhMessage(header, hash.digest('hex')), { start: 0, end: size })] };
}

function unitOf({ rules, config }: Reading, message: Message, at: Interchange | { readonly start: number; readonly end: number }): Unit {
  const rule = selectRule(rules, message);
  const { scope } = config;
  if ('findings' in at) {
    const refused = strictFinding(at.findings, rule.checks ?? 'warn');
    if (refused !== undefined) throw new EdiBroken(refused.text, refused);
  }
  return {
    message, rule, start: at.start, end: at.end,
    key: duplicateKey(message, rule.key, scope),
    ...(rule.previousKey === undefined ? {} : { previous: duplicateKey(message, rule.previousKey, scope) }),
    withContent: duplicateKey(message, withContent(rule.key), scope),
    withSender: duplicateKey(message, withSender(rule.key), scope),
    groups: 'syntax' in at && at.syntax === 'x12' ? groupsOf(at) : [],
    acknowledgement: 'acknowledgement' in at && at.acknowledgement,
  };
}
