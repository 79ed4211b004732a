import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { inspectConfig } from '../../src/config/load.js';
import { endpointTemplate, type EndpointChoices } from '../../src/operate/endpoint-template.js';
import { startCli, runNode } from '../support/child.js';
import { freePorts } from '../support/free-port.js';
import type { OwnedProcess } from '../support/owned-process.js';
import { tempDir } from '../support/temp-dir.js';
import { json, operator } from './operator.js';

const cli = operator('');
const folder = tempDir('endpoint-init');
const at = (name: string): string => join(folder.path, name);
afterAll(() => folder.remove());

const template = (change: Partial<EndpointChoices> = {}): string => endpointTemplate({
  profile: 'edelivery', listen: '127.0.0.1:8080', backend: './deliveries', testKeys: false, schema: 'file:///s.json',
  files: { certificate: 'keys/endpoint.pem', key: 'keys/endpoint.key', trust: 'keys/trust.pem' }, ...change,
});

// init knew fronts only: whoever wanted the endpoint had to find the one complete file that the demo writes
describe('init --role endpoint', () => {
  it.each(['peppol', 'edelivery', 'custom'] as const)('writes a file for %s that loads as it stands, with both ledgers and backends', (profile) => {
    for (const [redis, backend] of [[undefined, './deliveries'], ['redis://127.0.0.1:6379', 'http://127.0.0.1:9000/in']] as const) {
      const { config, warnings } = inspectConfig({ text: template({ profile, backend, ...(redis === undefined ? {} : { redis }) }) });
      expect(warnings).toEqual([]);
      expect(config).toMatchObject({ role: 'endpoint', endpoint: { profile, keys: [{}] }, ledger: { kind: redis === undefined ? 'embedded' : 'redis' } });
      expect(config.routes[0]?.backend).toMatchObject(redis === undefined ? { directory: expect.stringContaining('deliveries') as string } : { http: { url: backend } });
    }
  });

  it('what is commented out loads too, once the comment sign is taken away', () => {
    writeFileSync(at('passphrase'), 'x');
    const open = (text: string): string => text
      .replace(/^( *)# ((passphraseFile|partyId|receivers|onlyPartners|maxPayload|crl|certificates|commonName|keepHeader|partners|timeout|- \{ certificate)\b.*)/gm, '$1$2')
      .replace(/^#( {3}- match)/m, ' $1').replace(/^#( {5}sbdh)/m, ' $1').replace('passphraseFile: keys/', 'passphraseFile: ');
    const { config } = inspectConfig({ text: open(template({ backend: 'https://127.0.0.1:9000/in' })) }, { base: folder.path });
    expect(config.endpoint).toMatchObject({ partyId: ['POP000321'], receivers: ['9915:b'], onlyPartners: true, maxPayload: 1024 ** 3, keys: [{ passphrase: 'x' }, {}] });
    expect(config.security).toMatchObject({ commonName: true, crl: expect.anything() as unknown, certificates: expect.anything() as unknown });
    expect(config.routes[0]).toMatchObject({ backend: { http: { timeout: 60_000 } }, rules: { defaults: { keepHeader: 30 * 86_400_000 }, partners: [{ rule: { sbdh: 'suppress' } }] } });
  });

  it.each([
    [['--role', 'endpoint', '--access-point', 'phase4'], '--access-point is not for --role endpoint'],
    [['--access-point', 'phase4', '--profile', 'peppol'], '--profile is not for --role front'],
    [['--role', 'endpoint', '--profile', 'peppo'], '--profile is one of'],
    [['--role', 'endpoint', '--test-keys'], '--test-keys needs -o'],
    [['--role', 'behind'], '--role is front or endpoint'],
    [[], 'or --role endpoint'],
  ])('refuses %j', async (args, why) => {
    const { code, stdout, stderr } = await cli('init', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(why);
  });

  it('without -o prints the file; --json says what was written', async () => {
    const printed = await cli('init', '--role', 'endpoint', '--profile', 'peppol');
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining('profile: peppol') as string });
    const said = await json<{ file: string | null; text: string }>(cli('init', '--role', 'endpoint', '--profile', 'peppol', '--json'));
    expect(said).toMatchObject({ role: 'endpoint', file: null, keys: [], text: printed.stdout });
    const written = await json<{ keys: string[] }>(cli('init', '--role', 'endpoint', '--test-keys', '-o', at('said/endpoint.yaml'), '--json'));
    expect(written.keys.map((file) => existsSync(file))).toEqual([true, true, true, true]);
    expect(readFileSync(at('said/endpoint.yaml'), 'utf8')).toContain('These are test keys');
  });

  it('writes over nothing: neither a file that is there nor half of a pair of keys', async () => {
    writeFileSync(at('standing.yaml'), 'mine');
    expect(await cli('init', '--role', 'endpoint', '--test-keys', '-o', at('standing.yaml'))).toMatchObject({ code: 2 });
    expect([readFileSync(at('standing.yaml'), 'utf8'), existsSync(at('keys'))]).toEqual(['mine', false]);
    await cli('init', '--role', 'endpoint', '--test-keys', '-o', at('half/endpoint.yaml'));
    const key = readFileSync(at('half/keys/endpoint.key'));
    for (const gone of ['endpoint.yaml', 'keys/endpoint.crt']) rmSync(at(`half/${gone}`));
    const refused = await cli('init', '--role', 'endpoint', '--test-keys', '-o', at('half/endpoint.yaml'));
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('endpoint.key cannot be written (EEXIST)') as string });
    expect(readFileSync(at('half/keys/endpoint.key')).equals(key)).toBe(true);
  });
});

describe('what init --role endpoint --test-keys says to do next', () => {
  let serving: OwnedProcess | undefined;
  afterEach(async () => {
    await serving?.kill();
  });

  it.each(['peppol', 'edelivery'])('%s: check finds it in order, it serves, and the printed command gets one Receipt twice', async (profile) => {
    const [port = 0] = await freePorts(1);
    const config = at(`${profile}/endpoint.yaml`);
    const made = await cli('init', '--role', 'endpoint', '--profile', profile, '--test-keys', '--listen', `127.0.0.1:${port}`, '-o', config);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(at(`${profile}/keys/endpoint.key`)).mode & 0o077).toBe(0);
    expect((await cli('check', '--config', config, '--strict')).code).toBe(0);
    writeFileSync(config, readFileSync(config, 'utf8').replace('127.0.0.1:9464', '127.0.0.1:0'));
    serving = await startCli(['serve', '--config', config], { ready: /listens on/ });
    const [, send = ''] = /as4-once-conformance (send .*)/.exec(made.stdout) ?? [];
    writeFileSync(at('invoice.xml'), '<Invoice/>');
    const sent = await runNode('dist/conformance/main.js', send.replace('FILE', at('invoice.xml')).split(' '));
    expect(sent.code, sent.stdout + sent.stderr).toBe(0);
    expect(sent.stdout).toContain('identical to the first answer');
    expect(readdirSync(at(`${profile}/deliveries`))).toHaveLength(1);
  });
});
