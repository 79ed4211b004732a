import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectConfig, loadConfig, type LoadOptions } from '../../src/config/load.js';
import { configDigest, redact } from '../../src/config/redact.js';
import { As4OnceError } from '../../src/errors.js';
import { LIMITS, TIMES } from '../../src/limits.js';
import { compileRules, selectRule } from '../../src/policy/select.js';
import { SMALLEST } from './smallest.js';

const DAY = 86_400_000;

const load = (text: string, options: LoadOptions = {}) => loadConfig({ text, name: 'f.yaml' }, { env: {}, base: '/etc/as4-once', ...options });

/** The problems of a bad file, one line each. */
function problems(text: string, options: LoadOptions = {}): readonly string[] {
  try {
    load(text, options);
  } catch (error) {
    if (error instanceof As4OnceError && error.code === 'CONFIG_INVALID') return error.detail.split('\n');
    throw error;
  }
  return [];
}

/** The smallest file with one line replaced or lines added. */
const changed = (line: RegExp, by: string): string => SMALLEST.replace(line, by);

describe('the smallest file', () => {
  it('loads as it is, with every default filled in', () => {
    const config = load(SMALLEST);
    expect(config).toMatchObject({
      role: 'front',
      listen: { host: '127.0.0.1', port: 8080 },
      ledger: { kind: 'embedded', embedded: '/etc/as4-once/data', strict: false },
      journal: '/etc/as4-once/data/journal',
      mark: { replay: true },
      log: { level: 'info' },
      limits: LIMITS,
      times: TIMES,
    });
    expect(config.routes).toHaveLength(1);
    expect(config.routes[0]).toMatchObject({
      path: '/', protocol: 'as4', scope: 'default', accessPoint: 'phase4', upstream: { url: 'http://127.0.0.1:8081/as4' },
    });
  });

  it('has no warnings', () => {
    expect(inspectConfig({ text: SMALLEST }, { env: {} }).warnings).toEqual([]);
  });

  it('gives the partner its window and everybody else the defaults', () => {
    const rules = compileRules(load(SMALLEST).routes[0]?.rules ?? expect.fail('no route'));
    const from = (value: string) => selectRule(rules, { protocol: 'as4', facts: { from: [{ value }], to: [] } });
    expect(from('POP000123')).toMatchObject({ name: 'POP000123', partner: 'POP000123', window: 180 * DAY, key: 'reference+sender' });
    expect(from('POP000124')).toMatchObject({ name: 'defaults', window: 90 * DAY, mode: 'eliminate', mismatch: 'refuse', uncertain: 'auto' });
  });

  it('is frozen to its depth', () => {
    const config = load(SMALLEST);
    expect(() => Object.assign(config.routes[0]?.rules.defaults ?? {}, { window: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.times, { lease: 1 })).toThrow(TypeError);
  });

  it('can be JSON, and an object of a program', () => {
    const value = {
      role: 'front', listen: '127.0.0.1:8080', upstream: 'http://127.0.0.1:8081/as4', accessPoint: 'phase4',
      ledger: { embedded: './data' }, defaults: { window: '90d' }, partners: [{ match: { from: 'POP000123' }, window: '180d' }],
    };
    const options = { env: {}, base: '/etc/as4-once' };
    expect(load(JSON.stringify(value))).toEqual(load(SMALLEST));
    expect(loadConfig({ value }, options)).toEqual(load(SMALLEST));
    expect(loadConfig({ value: { ...value, limits: { depth: 32 }, mark: { replay: false } } }, options)).toMatchObject({ limits: { depth: 32 }, mark: { replay: false } });
  });
});

describe('values', () => {
  // YAML's own rules would have read 0088123 as a number and lost its zeros, and 1e5 as a hundred thousand.
  it('are what was written: identifiers keep zeros and letters', () => {
    const config = load(`${SMALLEST}  - match: { from: [0088123, 1e5, true, 0x1F], c4: 0192:987 }\n`);
    expect(config.routes[0]?.rules.partners[1]?.match).toEqual({ from: ['0088123', '1e5', 'true', '0x1F'], c4: ['0192:987'] });
  });

  it('come as numbers, switches, durations and sizes where they are that', () => {
    const config = load(`${SMALLEST}limits: { maxBody: 10Mb, depth: 32, minRate: 2 KiB/s }\ntimes: { wait: PT10S, ledgerOutage: 0 }\nmark: { replay: false }\ntrustProxy: 1\n`);
    expect(config.limits).toMatchObject({ maxBody: 10_485_760, depth: 32, minRate: 2_048 });
    expect(config.times).toMatchObject({ wait: 10_000, ledgerOutage: 0 });
    expect(config.mark.replay).toBe(false);
    expect(config.trustProxy).toBe(1);
    expect(config.routes[0]?.rules.defaults.wait).toBe(10_000);
  });

  it.each([['8080', '0.0.0.0', 8080], [':8080', '0.0.0.0', 8080], ['"*:8080"', '0.0.0.0', 8080], ['"[::1]:8080"', '::1', 8080], ['gateway.internal:0', 'gateway.internal', 0]])(
    'listen: %s', (written, host, port) => expect(load(changed(/^listen.*$/m, `listen: ${written}`)).listen).toEqual({ host, port }));

  it.each(['127.0.0.1', '127.0.0.1:99999', '::1:8080', 'http://127.0.0.1:8080', 'a b:1'])(
    'listen: %s is refused', (written) => expect(problems(changed(/^listen.*$/m, `listen: "${written}"`))[0]).toMatch(/^f.yaml:2:9 listen: .*not host:port/));

  it('lets renew follow a short lease', () => {
    expect(load(`${SMALLEST}times: { lease: 2s }\n`).times).toMatchObject({ lease: 2_000, renew: 500 });
  });

  it('merge with << and may be named by anchors', () => {
    const config = load(`${SMALLEST}  - &strict { match: { from: A }, mismatch: refuse, uncertain: hold }\n  - { <<: *strict, match: { from: B } }\n`);
    expect(config.routes[0]?.rules.partners[2]).toMatchObject({ name: 'B', rule: { uncertain: 'hold' } });
  });

  it.each([
    ['{ redis: "redis://127.0.0.1:6379" }', { kind: 'redis', redis: { url: 'redis://127.0.0.1:6379' } }],
    ['{ redis: { url: "rediss://r:6380/2", client: node-redis, waitReplicas: 1, prefix: "x:" }, strict: true, maxBytes: 2 GiB }',
      { kind: 'redis', strict: true, maxBytes: 2 * 1_024 ** 3, redis: { url: 'rediss://r:6380/2', client: 'node-redis', waitReplicas: 1, prefix: 'x:' } }],
    ['{ redis: { sentinel: { name: main, nodes: [s1:26379, s2:26379] }, tls: { ca: ca.pem } } }',
      { kind: 'redis', redis: { sentinel: { name: 'main', nodes: ['s1:26379', 's2:26379'] }, tls: { ca: ['/etc/as4-once/ca.pem'] } } }],
    ['{ redis: { cluster: { nodes: [n1:6379] }, tls: true } }', { kind: 'redis', redis: { cluster: { nodes: ['n1:6379'] }, tls: true } }],
    ['{ memory: true }', { kind: 'memory' }],
  ])('ledger: %s', (written, ledger) => expect(load(changed(/^ledger.*$/m, `ledger: ${written}`)).ledger).toMatchObject(ledger));

  it('scope, protocol, policy and partners of a route', () => {
    const config = load(`role: front
listen: 127.0.0.1:8080
accessPoint: phase4
upstream: http://127.0.0.1:8081/as4
ledger: { memory: true }
scope: production
defaults: { window: 30d }
partners: [{ match: { from: A }, window: 31d }]
routes:
  - { path: /test, scope: test, upstream: { url: http://127.0.0.1:8082/as4, remembers: 1h, notReached: [503] }, accessPoint: holodeck }
  - path: /x12
    protocol: x12
    upstream: http://127.0.0.1:8083/
    defaults: { window: 60d, checks: strict }
    partners: [{ match: { from: B }, key: reference+sender+datetime }]
  - path: /hook
    protocol: reference
    upstream: http://127.0.0.1:8084/
    reference: { pointer: /id }
    type: { header: X-Type }
    methods: [POST, PUT]
`);
    const [test, x12, hook, root] = config.routes;
    expect(test).toMatchObject({ scope: 'test', accessPoint: 'holodeck', upstream: { remembers: 3_600_000, notReached: [503] } });
    expect(x12?.rules.defaults).toMatchObject({ window: 60 * DAY, checks: 'strict', key: 'reference+sender+recipient' });
    expect(x12?.rules.partners.map(({ name }) => name)).toEqual(['A', 'B']);
    expect(hook).toMatchObject({ scope: 'production', reference: { reference: { pointer: '/id' }, type: { header: 'X-Type' }, methods: ['POST', 'PUT'], noReference: 'forward' } });
    expect(hook?.rules.defaults).toMatchObject({ window: 30 * DAY, accept: ['2xx'] });
    expect(root).toMatchObject({ path: '/', scope: 'production', accessPoint: 'phase4' });
    expect(config.journal).toBe('/etc/as4-once/journal');
  });

  it('role endpoint and watched folders', () => {
    const config = load(`role: endpoint
listen: 127.0.0.1:8080
ledger: { embedded: data }
endpoint:
  profile: peppol
  keys: { certificate: ap.pem, key: ap.key }
  backend: { http: http://127.0.0.1:9000/in }
security: { trust: [root.pem, inter.pem], commonName: true }
partners: [{ match: { from: OLD }, security: { allow: [sha1] } }]
watch:
  - { protocol: edifact, in: edi/in, out: edi/out, trigger: "*.done" }
`);
    expect(config.endpoint).toMatchObject({ profile: 'peppol', keys: [{ certificate: '/etc/as4-once/ap.pem' }] });
    expect(config.routes[0]).toMatchObject({ path: '/', backend: { http: { url: 'http://127.0.0.1:9000/in' } } });
    expect(config.security).toEqual({ trust: ['/etc/as4-once/root.pem', '/etc/as4-once/inter.pem'], commonName: true });
    expect(config.routes[0]?.partnerSecurity).toEqual({ OLD: { allow: ['sha1'] } });
    expect(config.watch[0]).toMatchObject({
      protocol: 'edifact', stable: 30_000, poll: 5_000, trigger: '*.done',
      folders: { in: '/etc/as4-once/edi/in', work: '/etc/as4-once/edi/work', quarantine: '/etc/as4-once/edi/quarantine' },
    });
  });
});

describe('a bad file', () => {
  it('is refused with every problem, where it stands and what would be right', () => {
    expect(problems(`role: fron
listen: 127.0.0.1:8080
upstrem: http://127.0.0.1:8081/as4
accessPoint: phase5
ledger: { embeded: ./data }
defaults: { window: 90, kee: reference }
partners:
  - match: { form: POP000123 }
    window: maxsize=10Mb
`)).toEqual([
      'f.yaml:1:7 role: must be one of front, endpoint; did you mean front?',
      'f.yaml:3:1 upstrem: unknown key; did you mean upstream?',
      'f.yaml:4:14 accessPoint: must be one of phase4, phoss-ap, holodeck, domibus, oxalis, other; did you mean phase4?',
      'f.yaml:5:11 ledger.embeded: unknown key; did you mean embedded?',
      expect.stringMatching(/^f.yaml:6:21 defaults.window: "90" is not a duration \(a number needs a unit\); write it as 90d/),
      'f.yaml:6:25 defaults.kee: unknown key; did you mean key?',
      'f.yaml:8:14 partners[0].match.form: unknown key; did you mean from?',
      expect.stringMatching(/^f.yaml:9:13 partners\[0\].window: .*checkwindow is missing/),
    ]);
  });

  it.each<[string, string, RegExp]>([
    ['not YAML', 'role: [front', /^f.yaml:1:\d+ not readable as YAML/],
    ['a key twice', `${SMALLEST}role: endpoint\n`, /^f.yaml:10:1 not readable as YAML: Map keys must be unique/],
    ['two documents', `${SMALLEST}---\nrole: front\n`, /not readable as YAML: Source contains multiple documents/],
    ['an alias bomb', `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(9)}]\nc: &c [${'*b,'.repeat(9)}]\nd: [${'*c,'.repeat(9)}]\n`, /Excessive alias count/],
    ['empty', '', /^f.yaml:1:1 .*must be a mapping/],
    ['a list', '- role: front', /^f.yaml:1:1 .*must be a mapping/],
    ['nothing where a mapping belongs', `${SMALLEST}limits:\n`, /^f.yaml:10:8 limits: must be a mapping/],
    ['a mapping where text belongs', changed(/^accessPoint.*$/m, 'accessPoint: { name: phase4 }'), /accessPoint: must be one of/],
    ['a list where a mapping belongs', changed(/^defaults.*$/m, 'defaults: [90d]'), /^f.yaml:6:11 defaults: must be a mapping/],
    ['__proto__', `${SMALLEST}__proto__: { role: endpoint }\n`, /^f.yaml:10:1 __proto__: unknown key/],
    ['no ledger', changed(/^ledger.*\n/m, ''), /ledger: is missing/],
    ['two ledgers', changed(/^ledger.*$/m, 'ledger: { embedded: a, memory: true }'), /^f.yaml:5:9 ledger: names embedded and memory; it can only be one/],
    ['no Redis URL', changed(/^ledger.*$/m, 'ledger: { redis: localhost }'), /^f.yaml:5:18 ledger.redis: must be a redis:\/\/ or rediss:\/\/ URL/],
    ['Redis with two ways in', changed(/^ledger.*$/m, 'ledger: { redis: { url: "redis://a", cluster: { nodes: [a:1] } } }'), /ledger.redis: needs exactly one of url, sentinel, cluster/],
    ['no access point', changed(/^accessPoint.*\n/m, ''), /accessPoint: is missing: phase4, phoss-ap/],
    ['no upstream', changed(/^upstream.*\n/m, ''), /upstream: is missing: where are messages delivered\?/],
    ['an upstream that is no URL', changed(/^upstream.*$/m, 'upstream: 127.0.0.1:8081'), /^f.yaml:3:11 upstream: must be an http or https URL/],
    ['no listen', changed(/^listen.*\n/m, ''), /listen: is missing/],
    ['a partner without criteria', `${SMALLEST}  - { match: {}, window: 1d }\n`, /^f.yaml:10:14 partners\[1\].match: needs at least one of from, to/],
    ['an empty list', `${SMALLEST}  - { match: { from: [] }, window: 1d }\n`, /partners\[1\].match.from: must not be an empty list/],
    ['a value of no policy', `${SMALLEST}  - { match: { from: A }, mismatch: replai }\n`, /partners\[1\].mismatch: must be one of refuse, replay, deliver-flagged; did you mean replay\?/],
    ['a header field that is none', changed(/^defaults.*$/m, 'defaults: { replyHeaders: ["a b"] }'), /defaults.replyHeaders\[0\]: must be the name of a header field/],
    ['a count that is none', `${SMALLEST}limits: { waiters: -1 }\n`, /limits.waiters: "-1" is not a whole number, 1 to 1000000/],
    ['two ways to find a reference', `${SMALLEST}routes: [{ path: /r, protocol: reference, upstream: "http://127.0.0.1:1/", reference: { header: A, query: b } }]\n`, /routes\[0\].reference: needs exactly one of header, pointer, path, query, value/],
    ['a pointer that is none', `${SMALLEST}routes: [{ path: /r, protocol: reference, upstream: "http://127.0.0.1:1/", reference: { pointer: id } }]\n`, /routes\[0\].reference.pointer: must be a JSON pointer/],
  ])('%s', (_, text, problem) => {
    const found = problems(text);
    expect(found.some((line) => problem.test(line)), found.join('\n')).toBe(true);
  });

  it('that cannot be read is named', () => {
    expect(() => loadConfig('/nowhere/as4-once.yaml')).toThrow(/CONFIG_INVALID: \/nowhere\/as4-once.yaml cannot be read \(ENOENT\)/);
  });

  it('handed in as an object is refused by path alone, and numbers where text belongs are not guessed at', () => {
    expect(() => loadConfig({ value: { role: 'front', partners: [{ match: { from: 88 } }] } })).toThrow(/configuration partners\[0\].match.from: must be text \(put it in quotes\)/);
  });
});

describe('values from the environment and from files', () => {
  const CANARY = 'canary-7f3a91';
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'as4-once-config-'));
    writeFileSync(join(folder, 'password'), `${CANARY}-file\n`);
    writeFileSync(join(folder, 'empty'), '\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const full = `role: \${ROLE:-front}
listen: 127.0.0.1:\${PORT}
upstream: http://user:${CANARY}-url@127.0.0.1:8081/\${NAME}
accessPoint: phase4
ledger: { redis: { url: "redis://:\${REDIS_PASSWORD}@127.0.0.1:6379", passwordFile: password } }
admin: { listen: 127.0.0.1:9080, token: ${CANARY}-token }
scope: $\${NAME}
`;
  const env = { PORT: '8080', REDIS_PASSWORD: `${CANARY}-env`, NAME: `${CANARY}-name` };

  it('take their place', () => {
    expect(load(full, { env, base: folder })).toMatchObject({
      role: 'front',
      listen: { port: 8080 },
      ledger: { redis: { url: `redis://:${CANARY}-env@127.0.0.1:6379`, password: `${CANARY}-file` } },
    });
    expect(load(full, { env, base: folder }).routes[0]?.scope).toBe('${NAME}');
  });

  it('are never printed, wherever they stand', () => {
    const config = load(full, { env, base: folder });
    expect(JSON.stringify(config)).toContain(CANARY);
    expect(JSON.stringify(redact(config))).not.toContain(CANARY);
    expect(redact(config)).toMatchObject({ admin: { token: '***' }, ledger: { redis: { password: '***' } } });
  });

  it('are not printed in a problem either', () => {
    const found = problems(full.replace('accessPoint: phase4', 'accessPoint: phase4\ndefaults: { window: "${NAME}", wait: "${NAME}s" }'), { env, base: folder });
    expect(found).toHaveLength(2);
    expect(found.join('\n')).not.toContain(CANARY);
    expect(found[0]).toMatch(/^f.yaml:5:\d+ defaults.window: "\$\{NAME\}" is not a duration/);
  });

  it('that are missing are problems, with their place', () => {
    expect(problems(full, { env: { PORT: '8080', NAME: 'x', REDIS_PASSWORD: '' }, base: folder })).toEqual(['f.yaml:5:25 ledger.redis.url: the environment variable REDIS_PASSWORD is not set']);
    const files = (written: string): readonly string[] => problems(full.replace('passwordFile: password', written), { env, base: folder });
    expect(files('passwordFile: nowhere')).toEqual([expect.stringMatching(/^f.yaml:5:\d+ ledger.redis.passwordFile: the file cannot be read \(ENOENT\)/)]);
    expect(files('passwordFile: empty')).toEqual([expect.stringMatching(/passwordFile: the file is empty/)]);
    expect(files('passwordFile: password, password: x')).toEqual([expect.stringMatching(/password is given too/)]);
  });

  it('do not enter the digest, while everything that decides does', () => {
    const digest = (text: string, more: object = {}): string => configDigest(load(text, { env: { ...env, ...more }, base: folder }));
    expect(digest(full)).toMatch(/^[0-9a-f]{64}$/);
    expect(digest(full, { REDIS_PASSWORD: 'other' })).toBe(digest(full));
    expect(digest(`${full}node: other\n`)).toBe(digest(full));
    expect(digest(`${full}defaults: { window: 91d }\n`)).not.toBe(digest(full));
    expect(digest(full.replace('admin:', '# a comment\nadmin:'))).toBe(digest(full));
  });
});

describe('any file at all', () => {
  const pieces = fc.constantFrom(
    '{', '}', '[', ']', ':', ' ', '\n', '  ', '- ', '&a ', '*a', '<<: ', '"', "'", '|', '>', '#', '!!int ', '? ', '${', '}', '$${A}', '\u0000', '\u0085', '\u2028',
    '90d', '-1', '1e999', '0x1F', 'null', '~', 'true', '__proto__: ', 'constructor: ', 'toString', 'role: ', 'partners: ', 'match: ', 'from: ', 'é', '😀', '\t', '---\n', '...\n', '%YAML 9\n');

  it('either loads or is refused in lines that name it, each one line', () => {
    const edits = fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat(8), put: pieces }), { minLength: 1, maxLength: 6 });
    fc.assert(fc.property(edits, (list) => {
      const text = list.reduce((t, { at, cut, put }) => {
        const i = Math.floor(at * t.length);
        return t.slice(0, i) + put + t.slice(i + cut);
      }, SMALLEST);
      for (const line of problems(text)) expect(line).toMatch(/^f\.yaml:\d+:\d+ \S/);
    }), { numRuns: 1_500 });
  });

  it('shows a value that holds control characters, or that is very long, in one line that can be read', () => {
    const [shown = ''] = problems(changed(/^listen.*$/m, 'listen: "a\\u001b[31m\\nb\\u2028c"'));
    expect(shown).toContain('"a\\u001b[31m\\u000ab\\u2028c" is not host:port');
    expect(problems(changed(/^listen.*$/m, `listen: ${'x'.repeat(100_000)}`))[0]?.length).toBeLessThan(600);
  });
});
