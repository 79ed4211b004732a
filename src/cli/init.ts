import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { packageRoot } from '../admin/package-root.js';
import { loadConfig } from '../config/load.js';
import { ACCESS_POINT_NAMES } from '../delivery/access-points.js';
import { As4OnceError } from '../errors.js';
import { endpointTemplate } from '../operate/endpoint-template.js';
import { initTemplate } from '../operate/init-template.js';
import { testKeys } from '../operate/test-keys.js';
import type { ProfileName } from '../security/profiles.js';
import { EXIT, type Io } from './io.js';

const PROFILES = ['edelivery', 'peppol', 'custom'] as const satisfies readonly ProfileName[];

const HELP = `as4-once init: write a commented configuration to begin with

Usage: as4-once init --access-point NAME [--upstream URL] [--listen HOST:PORT] [--redis URL] [-o FILE]
       as4-once init --role endpoint [--profile NAME] [--backend FOLDER|URL] [--test-keys]
                     [--listen HOST:PORT] [--redis URL] [-o FILE]

A front, in shadow mode, before the access point NAME: ${ACCESS_POINT_NAMES.join(', ')}.
With --role endpoint as4-once is the access point itself. Without -o it goes to standard output; a file that exists is
never overwritten.

--upstream URL      the access point (http://127.0.0.1:8081/as4)
--listen HOST:PORT  where messages arrive (127.0.0.1:8080)
--redis URL         a Redis ledger instead of the embedded one
--profile NAME      ${PROFILES.join(', ')}: which rules a message must keep (edelivery)
--backend WHERE     a folder, or a URL that payloads are posted to (./deliveries)
--test-keys         make keys for trying out in the folder keys beside FILE, for the endpoint and for one partner,
                    unless they are there; needs -o
--json              one JSON object on standard output

Exit codes: 0 written · 2 wrong command line

Example: as4-once init --access-point phase4 -o front.yaml
         as4-once init --role endpoint --profile peppol --backend http://127.0.0.1:9000/in -o endpoint.yaml
`;

const OPTIONS = {
  role: { type: 'string', default: 'front' },
  'access-point': { type: 'string' },
  upstream: { type: 'string' },
  profile: { type: 'string' },
  backend: { type: 'string' },
  'test-keys': { type: 'boolean' },
  listen: { type: 'string', default: '127.0.0.1:8080' },
  redis: { type: 'string' },
  output: { type: 'string', short: 'o' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** The test keys' names: whom `as4-once-conformance send` is, and whom it writes to, unless told otherwise. */
const [OURS, PARTNER] = ['as4-once-receiver', 'as4-once-sender'];

export async function init(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const text = templateOf(values);
  try {
    loadConfig({ text, name: 'what these options give' }, { env: io.env });
  } catch (error) {
    throw new As4OnceError('USAGE', error instanceof As4OnceError ? error.detail : String(error));
  }
  const { output, json } = values;
  const keys = output === undefined ? [] : write(output, text, values['test-keys'] === true);
  if (json) io.out(`${JSON.stringify({ role: values.role, file: output ?? null, keys, text }, null, 2)}\n`);
  else io.out(output === undefined ? text : nextSteps(output, values, keys));
  return EXIT.ok;
}

/** The text of the file. @throws As4OnceError USAGE for options that do not go together. */
function templateOf(values: Values): string {
  const { role, listen, redis } = values;
  if (role !== 'front' && role !== 'endpoint') throw new As4OnceError('USAGE', `--role is front or endpoint, not ${role}`);
  const others = role === 'front' ? (['profile', 'backend', 'test-keys'] as const) : (['access-point', 'upstream'] as const);
  const stray = others.find((name) => values[name] !== undefined);
  if (stray !== undefined) throw new As4OnceError('USAGE', `--${stray} is not for --role ${role}`);
  const common = {
    listen,
    schema: pathToFileURL(join(packageRoot(), 'schemas/config.schema.json')).href,
    ...(redis === undefined ? {} : { redis }),
  };
  if (role === 'front') {
    const accessPoint = ACCESS_POINT_NAMES.find((known) => known === values['access-point']);
    if (accessPoint === undefined)
      throw new As4OnceError('USAGE', `init needs --access-point, one of ${ACCESS_POINT_NAMES.join(', ')}, or --role endpoint`);
    return initTemplate({ ...common, accessPoint, upstream: values.upstream ?? 'http://127.0.0.1:8081/as4' });
  }
  const profile = PROFILES.find((known) => known === (values.profile ?? 'edelivery'));
  if (profile === undefined) throw new As4OnceError('USAGE', `--profile is one of ${PROFILES.join(', ')}`);
  const made = values['test-keys'] === true;
  if (made && values.output === undefined) throw new As4OnceError('USAGE', '--test-keys needs -o: the keys lie beside that file');
  const files = made
    ? { certificate: 'keys/endpoint.crt', key: 'keys/endpoint.key', trust: 'keys/partner.crt' }
    : { certificate: 'keys/endpoint.pem', key: 'keys/endpoint.key', trust: 'keys/trust.pem' };
  return endpointTemplate({ ...common, profile, backend: values.backend ?? './deliveries', files, testKeys: made });
}

/** Writes what is not there yet; answers with the keys that lie beside the file now. @throws As4OnceError USAGE */
function write(output: string, text: string, withKeys: boolean): readonly string[] {
  if (existsSync(output)) throw new As4OnceError('USAGE', `${output} exists already and is left as it is`);
  let file = output;
  try {
    const keys: string[] = [];
    for (const [name, party] of withKeys ? ([['endpoint', OURS], ['partner', PARTNER]] as const) : []) {
      file = join(dirname(output), 'keys', `${name}.key`);
      const made = testKeys(join(dirname(output), 'keys'), name, party);
      keys.push(made.key, made.certificate);
    }
    file = output;
    writeFileSync(output, text, { flag: 'wx', mode: 0o640 });
    return keys;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new As4OnceError('USAGE', `${file} cannot be written (${code ?? 'error'})`);
  }
}

function nextSteps(output: string, { role, profile = 'edelivery', listen }: Values, keys: readonly string[]): string {
  const [, own, key, certificate] = keys;
  if (role === 'front') return `${output} written. Next: as4-once check --config ${output}, then as4-once serve --config ${output}\n`;
  if (own === undefined || key === undefined || certificate === undefined) {
    return `${output} written. Next: put your certificate and key and your authorities' certificates into ${join(dirname(output), 'keys')},\n`
      + `as4-once check --config ${output}, then as4-once serve --config ${output}\n`;
  }
  return `${output} written, with test keys in ${dirname(key)}. Next: as4-once serve --config ${output}, and from another terminal
  as4-once-conformance send --url http://${listen}/as4 --profile ${profile} --file FILE --key ${key} --cert ${certificate} --encrypt ${own} --receiver ${own} --times 2
`;
}
