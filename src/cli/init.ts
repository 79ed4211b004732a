import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { packageRoot } from '../admin/package-root.js';
import { loadConfig } from '../config/load.js';
import { ACCESS_POINT_NAMES, type AccessPointName } from '../delivery/access-points.js';
import { As4OnceError } from '../errors.js';
import { initTemplate } from '../operate/init-template.js';
import { EXIT, type Io } from './io.js';

const HELP = `as4-once init: write a commented configuration to begin with, in shadow mode

Usage: as4-once init --access-point NAME [--upstream URL] [--listen HOST:PORT] [--redis URL] [-o FILE]

NAME is one of ${ACCESS_POINT_NAMES.join(', ')}. Without -o it goes to standard output; a file that exists
is never overwritten.

--upstream URL      the access point (http://127.0.0.1:8081/as4)
--listen HOST:PORT  where messages arrive (127.0.0.1:8080)
--redis URL         a Redis ledger instead of the embedded one

Exit codes: 0 written · 2 wrong command line

Example: as4-once init --access-point phase4 -o front.yaml
`;

export async function init(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'access-point': { type: 'string' },
      upstream: { type: 'string', default: 'http://127.0.0.1:8081/as4' },
      listen: { type: 'string', default: '127.0.0.1:8080' },
      redis: { type: 'string' },
      output: { type: 'string', short: 'o' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const name = ACCESS_POINT_NAMES.find((known) => known === values['access-point']);
  if (name === undefined)
    throw new As4OnceError('USAGE', `init needs --access-point, one of ${ACCESS_POINT_NAMES.join(', ')}`);
  const text = initTemplate({
    accessPoint: name satisfies AccessPointName,
    upstream: values.upstream,
    listen: values.listen,
    schema: pathToFileURL(join(packageRoot(), 'schemas/config.schema.json')).href,
    ...(values.redis === undefined ? {} : { redis: values.redis }),
  });
  try {
    loadConfig({ text, name: 'what these options give' }, { env: io.env });
  } catch (error) {
    throw new As4OnceError('USAGE', error instanceof As4OnceError ? error.detail : String(error));
  }
  const { output } = values;
  if (output === undefined) {
    io.out(text);
    return EXIT.ok;
  }
  try {
    writeFileSync(output, text, { flag: 'wx', mode: 0o640 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new As4OnceError(
      'USAGE',
      code === 'EEXIST'
        ? `${output} exists already and is left as it is`
        : `${output} cannot be written (${code ?? 'error'})`,
    );
  }
  io.out(`${output} written. Next: as4-once check --config ${output}, then as4-once serve --config ${output}\n`);
  return EXIT.ok;
}
