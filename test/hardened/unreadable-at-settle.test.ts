import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { after, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';
import type { Answer } from '../support/send.js';
import { startFront, stopFronts, type Front } from '../front/front-process.js';
import { freshId, gate, message, post, refersTo } from '../front/messages.js';

/**
 * A record that cannot be read when its Receipt comes (a newer release has rewritten it, somebody has put another kind
 * of value under its key) cost the sender the Receipt of a message that was delivered: it had 503, nothing was kept, and
 * once an operator had removed the record the next copy was delivered a second time. The journal is for any settle that
 * was not confirmed, whatever the reason; and one entry that waits for an operator keeps no other one waiting.
 */
describe.each(['ioredis', 'node-redis'] as const)('a record that cannot be read at settle, with %s', (client) => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeEach(async () => {
    redis = await startRedis({ appendonly: 'yes' });
    upstream = await startUpstream(receipt());
    const folder = tempDir('unreadable').path;
    front = await startFront({
      upstream: upstream.url,
      ledger: { redis: { url: redis.url, client, commandTimeout: '1s' } },
      journal: `${folder}/journal`,
      state: `${folder}/state`,
      times: { settle: '500ms', ledgerOutage: '1s' },
    });
  });
  afterEach(async () => {
    await stopFronts();
    await upstream.close();
    await redis.close();
  });

  const KINDS = ['a newer format', 'another kind of value'];
  it.each(KINDS)('%s: the Receipt is sent and kept, and every later copy gets it', async (what) => {
    const broken = await inWork();
    const key = await recordInWork();
    await redis.command('DEL', key);
    if (what === 'a newer format') await redis.command('SET', key, `A4O9${'0'.repeat(71)}c\n{}\n`);
    else await redis.command('LPUSH', key, 'x');
    broken.open();
    const first = await broken.answer;
    expect([first.status, refersTo(first.body)]).toEqual([200, broken.id]);
    await front.logged({ event: 'journaled', messageId: broken.id });
    expect((await post(front.url, message(broken.id))).body.toString()).toMatch(/^RECORD_UNREADABLE/);

    // another one is journaled behind it, and does not wait for the first one
    const other = await inWork();
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    other.open();
    expect((await other.answer).status).toBe(200);
    await front.logged({ event: 'journaled', messageId: other.id });
    await redis.command('REPLICAOF', 'NO', 'ONE');
    await front.logged({ event: 'journalClosed', messageId: other.id });

    await redis.command('DEL', key);
    await front.logged({ event: 'journalClosed', messageId: broken.id });
    const copy = await post(front.url, message(broken.id));
    expect([copy.headers['as4-once-answer'], copy.body.equals(first.body)]).toEqual(['replay', true]);
    expect(upstream.requests).toHaveLength(2);
  });

  /** Where the record of what is in work lies. */
  async function recordInWork(): Promise<string> {
    const names = (await redis.command('KEYS', 'as4-once:*:idx')) as string[];
    const [member] = (await redis.command('ZRANGE', names[0] ?? '', '0', '0')) as string[];
    return `${names[0]?.slice(0, -'idx'.length)}${member}`;
  }

  async function inWork(): Promise<{ id: string; answer: Promise<Answer>; open: () => void }> {
    const id = freshId();
    const working = gate();
    const before = upstream.requests.length;
    upstream.next(after(working.opened, receipt()));
    const answer = post(front.url, message(id));
    await upstream.arrived(before + 1);
    return { id, answer, open: working.open };
  }
});
