import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load.js';
import { inspect } from '../ebms/describe.js';
import { NS } from '../ebms/namespaces.js';
import { categoryOf, describeEdi } from '../edi/describe.js';
import { messageOf, sbdhMessage } from '../edi/message-of.js';
import { interchangesOf } from '../edi/read-interchanges.js';
import { rootElement } from '../edi/root-element.js';
import { BusinessDocumentReader } from '../edi/sbdh.js';
import { As4OnceError } from '../errors.js';
import type { Ledger } from '../ledger/port.js';
import { LIMITS } from '../limits.js';
import type { Message } from '../message.js';
import { openLedger } from '../open-ledger.js';
import { Foreteller } from './foretell.js';
import { readGiven } from './given-file.js';
import { EXIT, type Io } from './io.js';
import { printable } from './show-record.js';

const HELP = `as4-once read: show what the walk sees in a stored message

Usage: as4-once read FILE [--content-type T] [--config FILE] [--json]

FILE is an AS4 message (a MIME package or a bare SOAP envelope, with or without its HTTP head), an EDIFACT or X12
interchange, or an SBDH document. Without --content-type a package's boundary is found from its first line.
With --config the rule of the configuration is applied and its ledger is asked (read-only) what would happen now:
claim, redeliver, late, wait, replay, mismatch, held, known.

Exit codes: 0 read · 1 would be refused · 2 wrong command line or configuration · 75 the ledger cannot be reached

Examples: as4-once read captured.mime --content-type 'multipart/related; boundary="b"'
          as4-once read captured.mime --config front.yaml --json
`;

export async function read(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: { 'content-type': { type: 'string' }, config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new As4OnceError('USAGE', 'read needs one FILE');
  const bytes = readGiven(file);
  const config = values.config === undefined ? undefined : loadConfig(values.config, { env: io.env });
  const ledger = config === undefined ? undefined : await openLedger(config, undefined, true);
  try {
    const given = values['content-type'];
    const shown = isAs4(bytes, given) ? await readAs4(bytes, given, config, ledger) : await readEdi(bytes, config, ledger);
    io.out(values.json === true ? `${JSON.stringify(shown, undefined, 2)}\n` : text(shown));
    return shown.verdict === 'reject' ? EXIT.no : EXIT.ok;
  } finally {
    await ledger?.close();
  }
}

async function readAs4(bytes: Uint8Array, contentType: string | undefined, config: Config | undefined, ledger: Ledger | undefined): Promise<Shown> {
  const { description, message, bundled } = inspect(bytes, contentType, config?.limits ?? LIMITS);
  if (description.verdict === 'reject') return { ...description, now: 'refuse' };
  if (message === undefined) return { ...description, now: 'pass' };
  return { ...description, ...(await new Foreteller('as4', config, ledger).of(message, bundled)) };
}

/** Interchanges one by one, since each has its own key; a Standard Business Document as a whole. */
async function readEdi(bytes: Uint8Array, config: Config | undefined, ledger: Ledger | undefined): Promise<Shown> {
  const description = describeEdi(bytes);
  if (description.verdict === 'reject') return { ...description, now: 'refuse' };
  const messages = messagesIn(bytes, description.category);
  const known = await Promise.all(messages.map((message) => new Foreteller(message.protocol, config, ledger).of(message)));
  const { interchanges } = description;
  // category says which reader it was: the one for SBDH reads any document, and this one has no header
  if (description['hasSBDH'] === false) return { ...description, note: NO_HEADER };
  if (!Array.isArray(interchanges)) return { ...description, ...known[0] };
  return { ...description, interchanges: interchanges.map((one: object, i) => ({ ...one, ...known[i] })) };
}

function messagesIn(bytes: Uint8Array, category: string): readonly Message[] {
  if (category !== 'sbdh') return interchangesOf(bytes).map(messageOf);
  const reader = new BusinessDocumentReader(LIMITS);
  reader.push(bytes);
  const { header } = reader.end();
  return header === undefined ? [] : [sbdhMessage(header, createHash('sha256').update(bytes).digest('hex'))];
}

const NO_HEADER = 'a document without a Standard Business Document Header before it or as the first child of its root: no InstanceIdentifier names it';

interface Shown {
  readonly verdict: 'parse' | 'reject';
  readonly [field: string]: unknown;
}

/** A SOAP envelope, a bare eb:Messaging and MIME are AS4; other documents, EDIFACT and X12 are EDI. */
function isAs4(bytes: Uint8Array, contentType: string | undefined): boolean {
  if (contentType !== undefined) return true;
  const category = categoryOf(bytes);
  if (category !== 'sbdh') return category === 'unknown';
  const { local, uri } = rootElement(bytes) ?? {};
  return local === 'Envelope' ? uri === NS.soap11 || uri === NS.soap12 : local === 'Messaging' && uri === NS.eb;
}

/** One field a line, nested ones indented: for a person with a terminal. */
function text(value: object, indent = ''): string {
  let out = '';
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === 'object' && field !== null) out += `${indent}${name}:\n${text(field as object, `${indent}  `)}`;
    else out += `${indent}${name}: ${printable(String(field))}\n`;
  }
  return out;
}
