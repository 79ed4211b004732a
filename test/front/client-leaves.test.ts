import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startEngine, type Engine } from './engines.js';
import { eventually, startFront, stopFronts, type Front } from './front-process.js';
import { freshId, message, post, refersTo } from './messages.js';
import { rawClient } from './raw-http.js';

const KiB = 1024;

/**
 * Holodeck burns the id of a message whose transfer broke after its envelope, and phase4 processes one that lacks only
 * its last CRLF (both measured): so an unfinished request must never reach the access point, wherever it breaks.
 */
describe('a client that leaves before its request is whole', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    // small bodies lie in memory and long ones in the spool: both are left in the middle here
    front = await startFront({ upstream: upstream.url, ...engine.settings, limits: { memoryPerBody: '20 KiB' } });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  const large = (id: string) => message(id, { payloads: ['invoice '.repeat(4_600)] });

  it.each([
    ['with a Content-Length, the connection reset', false, 'reset'],
    ['with a Content-Length, the connection ended in order', false, 'end'],
    ['chunked, the connection ended in order', true, 'end'],
  ] as const)('at every KiB of 40, and before the last CRLF; %s: nothing goes upstream, nothing is recorded, and the whole copy is a first one', async (_how, chunked, leave) => {
    const id = freshId();
    const { body, headers } = large(id);
    expect(body.length).toBeGreaterThan(40 * KiB);
    expect(body.subarray(-2).toString()).toBe('\r\n');
    const earlier = upstream.requests.length;
    const refused = (): number => front.log().filter((line) => line['code'] === 'BODY_INCOMPLETE').length;
    const refusedBefore = refused();
    const cuts = [...Array.from({ length: 40 }, (_, n) => (n + 1) * KiB), body.length - 2, body.length - 1];
    for (const cut of cuts) {
      const client = await rawClient(front.port);
      const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
      client.write(`POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${headers['content-type']}\r\n${framing}\r\n\r\n`);
      if (chunked) client.write(`${cut.toString(16)}\r\n`);
      await new Promise<void>((resolve) => client.socket.write(body.subarray(0, cut), () => resolve()));
      await eventually(async () => ((await received(front)) >= cut ? true : undefined), () => `${cut} bytes to arrive`);
      if (leave === 'reset') client.socket.resetAndDestroy();
      else client.socket.end();
      await eventually(async () => ((await received(front)) === 0 ? true : undefined), () => 'the spool to be empty again');
    }
    await eventually(() => (refused() === refusedBefore + cuts.length ? true : undefined), () => `${cuts.length} refusals, not ${refused() - refusedBefore}`);
    expect(upstream.requests.length).toBe(earlier);

    const good = await post(front.url, large(id));
    expect([good.status, refersTo(good.body)]).toEqual([200, id]);
    expect(upstream.requests.length).toBe(earlier + 1);
    const delivered = upstream.requests.at(-1)!;
    expect(delivered.complete).toBe(true);
    expect(delivered.header('as4-once-copy')).toBe('first');
    expect(delivered.body.equals(body)).toBe(true);
    expect(await front.logged({ event: 'exchange', messageId: id, answer: 'first' })).toMatchObject({ copies: 0, attempt: 1 });
  });
});

/** Body bytes that the front keeps now. */
async function received(front: Front): Promise<number> {
  const [memory, disk] = await Promise.all([front.metric('as4_once_spool_memory_bytes'), front.metric('as4_once_spool_disk_bytes')]);
  return memory + disk;
}
