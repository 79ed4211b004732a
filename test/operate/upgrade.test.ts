import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { knownFormats, pretendFormats } from '../../src/ledger/codec.js';
import type { Ledger } from '../../src/ledger/port.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/sample.js';
import { runNode } from '../support/child.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';
import { OLDER } from './older-format.js';
import { openTestLedger } from './open-test-ledger.js';

/**
 * Release N beside release N-1 on one ledger: it reads what the older one writes, writes what the older one reads, and
 * goes on to its own format when it is told that no older one is left.
 */
describe.each(['redis', 'embedded'] as const)('an upgrade: %s', (engine) => {
  const own = knownFormats();
  let redis: RedisServer | undefined;
  let folder: TempDir;
  let where: string;
  let ledger: Ledger | undefined;
  beforeEach(async () => {
    folder = tempDir('upgrade');
    redis = engine === 'redis' ? await startRedis() : undefined;
    where = redis?.url ?? folder.path;
    pretendFormats([OLDER, ...own]);
  });
  afterEach(async () => {
    await ledger?.close();
    ledger = undefined;
    await redis?.close();
    folder.remove();
  });
  afterAll(() => pretendFormats(own));

  const older = async (...words: string[]): Promise<string[]> => {
    const { stdout, stderr } = await runNode('dist/test/operate/older-release-main.js', [where, ...words]);
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };
  const accept = async (to: Ledger, name: string): Promise<string> => {
    const claim = sampleClaim(sampleKey(name), `current ${name}`);
    const { kind } = await to.claim(claim);
    if (kind === 'claimed') await to.settle(sampleAttempt(claim).settle(name));
    return kind;
  };
  const copy = async (to: Ledger, name: string): Promise<string> => {
    const { kind, record } = await to.claim(sampleClaim(sampleKey(name), `copy ${name}`));
    return `${kind} ${record.reply?.receiptId ?? '-'}`;
  };

  it('both read and write one ledger until upgrade; after it the older release is refused and decides nothing', async () => {
    expect(await older('accept:a')).toEqual(['accept:a claimed']);
    ledger = await openTestLedger(where);
    expect(await ledger.meta()).toMatchObject({ format: '0', newestFormat: '1' });
    expect(await copy(ledger, 'a')).toBe('settled a@receipt');
    expect(await accept(ledger, 'b')).toBe('claimed');
    expect(await older('copy:a', 'copy:b', 'accept:c')).toEqual(['copy:a settled a@receipt', 'copy:b settled b@receipt', 'accept:c claimed']);
    expect(await copy(ledger, 'c')).toBe('settled c@receipt');
    expect((await ledger.find(sampleKey('c')))?.record).toMatchObject({ reference: 'message@example.org', facts: { service: 'invoicing' } });

    // at the same time, over the same messages: each is claimed by one of them and replayed by the other
    const names = Array.from({ length: 60 }, (_, i) => `both ${i}`);
    const [theirs, ours] = await Promise.all([older(...names.map((name) => `accept:${name}`)), Promise.all(names.map((name) => accept(ledger!, name)))]);
    for (const [i] of names.entries()) expect([theirs[i]?.split(' ').at(-1), ours[i]].filter((kind) => kind === 'claimed')).toHaveLength(1);
    for (const name of names) expect(await copy(ledger, name)).toBe(`settled ${name}@receipt`);

    expect(await ledger.upgrade()).toMatchObject({ format: '1' });
    expect(await accept(ledger, 'd')).toBe('claimed');
    expect(await copy(ledger, 'a')).toBe('settled a@receipt');
    expect(await older('copy:d')).toEqual(['refused RECORD_UNREADABLE']);
    expect(await copy(ledger, 'd')).toBe('settled d@receipt');
  });

  it('a ledger that this release makes is of its newest format, which an older release does not touch', async () => {
    ledger = await openTestLedger(where);
    expect((await ledger.meta()).format).toBe('1');
    await accept(ledger, 'a');
    expect(await older('accept:a')).toEqual(['refused RECORD_UNREADABLE']);
    expect(await copy(ledger, 'a')).toBe('settled a@receipt');
  });
});
