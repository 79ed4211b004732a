import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { checkFiles } from '../config/check-files.js';
import type { Config } from '../config/config.js';
import { keyFacts, securityFacts } from '../config/endpoint-facts.js';
import { inspectConfig, problemText } from '../config/load.js';
import type { Problem } from '../config/problem.js';
import { parseRate, project, type Projection } from '../config/projection.js';
import { configDigest, redact } from '../config/redact.js';
import { As4OnceError } from '../errors.js';
import { compileRules } from '../policy/select.js';
import { backendText, describeConfig, describeProjection, FRONT_ONLY, isEndpoint } from './check-text.js';
import { EXIT, type Io } from './io.js';

const HELP = `as4-once check --config FILE [--rate N/day] [--strict] [--json]

Validates a configuration as serve does at its start, with the certificates and keys it names (an endpoint's key signs a
Receipt for it), and prints what is in force: routes, the rule of each partner, the access point's preset or the endpoint's
profile, keys and trust, and what will surprise (warnings).

  --config FILE  the configuration (YAML or JSON)
  --rate N/day   print the size that the ledger will have (also N/h, N/min, N/s)
  --strict       a warning fails too
  --no-files     do not read the certificates and keys it names: for a file that is checked on another machine
  --json         one JSON object on standard output

Exit codes: 0 in order · 1 warnings, with --strict · 2 the file is wrong
`;

/** `as4-once check`: prints effective rules and warnings; 0 in order, 1 warnings with --strict, 2 invalid. */
export async function check(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string', short: 'c' },
      rate: { type: 'string' },
      strict: { type: 'boolean', default: false },
      'no-files': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    io.out(HELP);
    return EXIT.ok;
  }
  if (values.config === undefined) throw new As4OnceError('USAGE', 'check needs --config FILE');
  const rate = values.rate === undefined ? undefined : parseRate(values.rate);
  if (values.rate !== undefined && rate === undefined) {
    throw new As4OnceError('USAGE', `--rate ${values.rate} is not a rate; write it as 100000/day`);
  }
  try {
    const loaded = inspectConfig(values.config, { env: io.env });
    const { config } = loaded;
    const readFiles = !values['no-files'];
    const warnings = [...loaded.warnings, ...(readFiles ? await checkFiles(loaded, systemClock.now()) : [])];
    const projection = rate === undefined ? undefined : project(config, rate);
    const checked: Checked = { file: values.config, config, warnings, projection, readFiles };
    if (values.json) io.out(json(checked));
    else print(io, checked);
    return values.strict && warnings.length > 0 ? EXIT.no : EXIT.ok;
  } catch (error) {
    if (!(error instanceof As4OnceError) || error.code !== 'CONFIG_INVALID') throw error;
    const invalid = { file: values.config, ok: false, problems: error.detail.split('\n') };
    if (values.json) io.out(`${JSON.stringify(invalid, null, 2)}\n`);
    else io.err(`${error.detail}\n`);
    return EXIT.usage;
  }
}

interface Checked {
  readonly file: string;
  readonly config: Config;
  readonly warnings: readonly Problem[];
  readonly projection: Projection | undefined;
  readonly readFiles: boolean;
}

function print(io: Io, { file, config, warnings, projection, readFiles }: Checked): void {
  const colour = io.tty && io.env['NO_COLOR'] === undefined;
  io.out(describeConfig(config, file, { colour, readFiles }));
  if (projection !== undefined) io.out(`\n${describeProjection(config, projection)}`);
  if (warnings.length === 0) io.out('\nNo warnings.\n');
  else io.out(`\nWarnings:\n${warnings.map((w) => `  ${w.code} ${problemText(w, file)}\n`).join('')}`);
}

function json({ file, config, warnings, projection, readFiles }: Checked): string {
  const safe = redact(config) as Config;
  const routes = config.routes.map((route, i) => {
    if (!isEndpoint(config, route)) return rulesShown(route);
    const { name, protocol, rules } = rulesShown(route);
    return {
      name, protocol,
      rules: rules.map((rule) => Object.fromEntries(Object.entries(rule).filter(([field]) => !FRONT_ONLY.has(field)))),
      backend: backendText(safe.routes[i] ?? route),
      security: securityFacts(config, route, readFiles),
    };
  });
  const shown = {
    file,
    ok: true,
    digest: configDigest(config),
    effective: [...routes, ...config.watch.map(rulesShown)],
    ...(config.role === 'endpoint' ? { endpoint: endpointShown(config, safe, readFiles) } : {}),
    warnings: warnings.map(({ code, at, text, position }) => ({ code, at, text, ...position })),
    config: safe,
    ...(projection === undefined ? {} : { projection }),
  };
  return `${JSON.stringify(shown, null, 2)}\n`;
}

function rulesShown({ name, protocol, rules }: Config['routes'][number] | Config['watch'][number]) {
  const { defaults, partners } = compileRules(rules);
  return { name, protocol, rules: [defaults, ...partners] };
}

function endpointShown(config: Config, { endpoint }: Config, readFiles: boolean): object {
  const { profile, partyId, receivers, onlyPartners = false } = endpoint ?? {};
  return { profile, partyIds: partyId, receivers, onlyPartners, keys: keyFacts(config, readFiles) };
}
