import { X509Certificate } from 'node:crypto';
import { parseArgs } from 'node:util';
import { openStoredFile } from '../ebms/stored-file.js';
import { As4OnceError } from '../errors.js';
import { header } from '../exchange.js';
import { LIMITS } from '../limits.js';
import { judgementText, judgeStored } from '../operate/judged-reply.js';
import { readGiven } from './given-file.js';
import { EXIT, type Io } from './io.js';
import { printable } from './show-record.js';

const HELP = `as4-once verify: check the signature of a stored Receipt or message with a second implementation

Usage: as4-once verify FILE [--certificate PEM] [--content-type T] [--json]

FILE is the SOAP envelope, a MIME package, or either with its HTTP head. What verifies (xml-crypto, fast-xml-parser)
shares no code with what as4-once itself signs and verifies with, so that a fault of ours cannot hide. Whether the
certificate is believed is yours to say: its subject and serial number are printed. Attachments are not looked at.

--certificate PEM   where the signature does not bring its certificate, or to insist on one

Exit codes: 0 verified · 1 not verified · 2 wrong command line

Example: as4-once verify receipt.xml
`;

export async function verify(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      certificate: { type: 'string' },
      'content-type': { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new As4OnceError('USAGE', 'verify needs one FILE');
  const { headers, body } = openStoredFile(readGiven(file), LIMITS);
  const type = values['content-type'] ?? (headers && header(headers, 'content-type'));
  const judgement = judgeStored(
    type,
    body,
    values.certificate === undefined ? undefined : certificateIn(values.certificate),
  );
  io.out(values.json === true ? `${JSON.stringify(judgement, undefined, 2)}\n` : lines(judgementText(judgement)));
  return judgement.ok ? EXIT.ok : EXIT.no;
}

/** Each line by itself: what stands in a message must not steer the terminal. */
const lines = (text: string): string => text.split('\n').map(printable).join('\n');

function certificateIn(file: string): X509Certificate {
  const bytes = readGiven(file);
  try {
    return new X509Certificate(bytes);
  } catch {
    throw new As4OnceError('USAGE', `${file} holds no certificate`);
  }
}
