import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRecords } from '../../src/admin/find-records.js';
import { loadConfig } from '../../src/config/load.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { referencePrefix } from '../../src/policy/key.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/sample.js';
import { json, operator } from '../operate/operator.js';
import { tempDir } from '../support/temp-dir.js';

/**
 * A reference with a type is keyed by both: `show ID` looked under the reference alone, found nothing and said so, while
 * the record lay there. And the list of held messages began with any of them, not with the one that waited longest.
 */
describe('finding records', () => {
  const folder = tempDir('find');
  const configFile = join(folder.path, 'front.yaml');
  const cli = operator(configFile);
  const route = (type: string): string =>
    `  - { path: /${type}, protocol: reference, scope: ${type}, upstream: "http://127.0.0.1:9", reference: { header: id }, type: { ${type} } }\n`;
  beforeAll(async () => {
    writeFileSync(configFile, `role: front\nlisten: 127.0.0.1:0\nledger: { embedded: ./ledger }\nroutes:\n`
      + route('header: kind').replaceAll('/header: kind', '/open').replace('scope: header: kind', 'scope: open')
      + route('value: order').replaceAll('/value: order', '/fixed').replace('scope: value: order', 'scope: fixed'));
    const ledger = await lmdbLedger({ path: join(folder.path, 'ledger') });
    for (const [scope, type] of [['open', 'order'], ['open', 'invoice'], ['fixed', 'order']] as const) {
      const key = `${referencePrefix('reference', scope, 'no-7', type)}:${sampleKey('x').split(':')[1]}`;
      await ledger.claim(sampleClaim(key, `t ${scope} ${type}`, { protocol: 'reference', scope, reference: 'no-7', type }));
    }
    const now = (await ledger.meta()).now;
    for (const [i, minutes] of [3, 9, 1, 7].entries()) {
      const claim = sampleClaim(sampleKey(`held ${i}`), `h${i}`, { reference: `waits ${minutes}` });
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('uncertain', { hold: true }));
      const { record } = (await ledger.find(claim.key))!;
      await ledger.adopt({ ...record, key: sampleKey(`waits ${minutes}`), born: now - minutes * 60_000 });
      await ledger.operatorRelease({ key: claim.key, decision: { what: 'release', who: 'test', when: 0, reason: 'only a pattern' }, force: false });
    }
    await ledger.close();
  });
  afterAll(() => folder.remove());
  const types = async (...args: string[]): Promise<string[]> =>
    (await json<{ scope: string; type: string }[]>(cli('show', 'no-7', '--json', ...args))).map(({ scope, type }) => `${scope} ${type}`).toSorted();

  it('by its reference, whatever its type; by both where the type is given', async () => {
    expect(await types()).toEqual(['fixed order', 'open invoice', 'open order']);
    expect(await types('--type', 'invoice')).toEqual(['fixed order', 'open invoice']);
    expect((await cli('show', 'no-8')).code).toBe(1);
  });

  it('a server does not look through the whole ledger for it: it needs the type, unless the route fixes it', async () => {
    const ledger = await lmdbLedger({ path: join(folder.path, 'ledger') });
    const found = async (type?: string) => (await findRecords(loadConfig(configFile), ledger, { id: 'no-7', type })).map(({ scope }) => scope).toSorted();
    expect(await found()).toEqual(['fixed']);
    expect(await found('order')).toEqual(['fixed', 'open']);
    await ledger.close();
  });

  it('lists the message that has waited longest first, also where the list is cut', async () => {
    const waiting = async (...args: string[]): Promise<string[]> =>
      (await json<{ reference: string }[]>(cli('list', '--held', '--json', ...args))).map(({ reference }) => reference);
    // adopted under the reference of its pattern
    const born = async (...args: string[]): Promise<number[]> =>
      (await json<{ born: number }[]>(cli('list', '--held', '--json', ...args))).map((record) => record.born);
    const all = await born();
    expect(all).toHaveLength(4);
    expect(all).toEqual(all.toSorted((a, b) => a - b));
    expect(await waiting()).toEqual(['waits 9', 'waits 7', 'waits 3', 'waits 1']);
    expect(await waiting('--limit', '2')).toEqual(['waits 9', 'waits 7']);
  });
});
