import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/child.js';
import { faultProxy } from '../support/fault-proxy.js';
import { send, type Answer } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';
import { eventually, startFront, startFrontFrom, stopFronts, type Front } from '../front/front-process.js';
import { errorCodes, freshId, refersTo } from '../front/messages.js';
import {
  makeInvoice,
  phase4Missing,
  recordFromPhase4,
  sendWithPhase4,
  startReceiver,
  type Receiver,
  type Recorded,
} from './phase4.js';

const missing = phase4Missing();

/** phase4 as sender, our front, phase4 as access point: nothing of ours on either end. */
describe.skipIf(missing !== undefined)(
  `phase4 through the front to phase4${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    const folder = tempDir('interop');
    let receiver: Receiver;
    let front: Front;
    beforeAll(async () => {
      receiver = await startReceiver({ dir: join(folder.path, 'delivered') });
      front = await startFront({
        upstream: receiver.url,
        accessPoint: 'phase4',
        ledger: { embedded: join(folder.path, 'ledger') },
      });
    });
    afterAll(async () => {
      await stopFronts();
      await receiver.stop();
      folder.remove();
    });
    const exchange = (id: string, nth = 1) => front.logged({ event: 'exchange', messageId: id }, nth);
    const post = (recorded: Recorded, url = front.url): Promise<Answer> => send(url, recorded);
    /** Sends again until there is a Receipt, as a sender's queue does. */
    const receipted = async (recorded: Recorded): Promise<Answer> => {
      for (;;) {
        const answer = await post(recorded);
        if (answer.status === 200) {
          expect(refersTo(answer.body)).toBe(recorded.messageId);
          return answer;
        }
        expect([503, 504]).toContain(answer.status);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    };

    it("a first copy, and the application's resend of it: one delivery, and the very Receipt again", async () => {
      const id = freshId();
      const sbdh = join(folder.path, 'kept.sbd');
      const [first] = await sendWithPhase4(front.url, ['--message-id', id, '--save-sbdh', sbdh]);
      expect(first).toMatchObject({ result: 'SUCCESS', http: 200, nrr: 'match' });
      // signed and encrypted anew, with another Timestamp and another cid:
      const [again] = await sendWithPhase4(front.url, ['--message-id', id, '--doc', sbdh]);
      expect(again).toMatchObject({ result: 'SUCCESS', http: 200, signalId: first!.signalId });
      expect(receiver.delivered(id)).toBe(1);
      expect(await exchange(id)).toMatchObject({ answer: 'first', outcome: 'accepted', receiptId: first!.signalId });
      expect(await exchange(id, 2)).toMatchObject({ answer: 'replay', receiptId: first!.signalId });
    });

    it("a lost answer: the sender's own retry gets the Receipt", async () => {
      const id = freshId();
      const proxy = await faultProxy({ port: front.port });
      const lost = proxy.eatReply();
      const [sent] = await sendWithPhase4(`http://127.0.0.1:${proxy.port}/as4`, [
        '--message-id',
        id,
        '--retries',
        '2',
        '--retry-ms',
        '200',
      ]);
      await lost;
      await proxy.close();
      expect(sent).toMatchObject({ result: 'SUCCESS', nrr: 'match' });
      expect(sent!.retries).toHaveLength(1);
      expect(receiver.delivered(id)).toBe(1);
      expect(await exchange(id, 2)).toMatchObject({ answer: 'replay' });
    });

    it('a request cut at every tenth of its length, and short of its last CRLF: nothing reaches the access point, and the whole one does', async () => {
      const id = freshId();
      const recorded = await recordFromPhase4(id);
      const head = `POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Length: ${recorded.body.length}\r\n${Object.entries(
        recorded.headers,
      )
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`;
      const tenths = Array.from({ length: 9 }, (_, n) => Math.floor((recorded.body.length * (n + 1)) / 10));
      for (const length of [...tenths, recorded.body.length - 2]) {
        const socket = connect(front.port, '127.0.0.1').on('error', () => undefined);
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.write(head);
        socket.write(recorded.body.subarray(0, length), () => socket.resetAndDestroy());
        await closed;
      }
      expect(receiver.delivered(id)).toBe(0);
      expect((await runCli(['show', id, '--config', front.configFile])).code).toBe(1);
      const whole = await post(recorded);
      expect([whole.status, refersTo(whole.body), receiver.delivered(id)]).toEqual([200, id, 1]);
    });

    it('eight copies at once: one delivery, and one Receipt for all', async () => {
      const id = freshId();
      const sent = await sendWithPhase4(front.url, ['--message-id', id, '--count', '8', '--concurrency', '8']);
      expect(sent.map(({ result }) => result)).toEqual(Array.from({ length: 8 }, () => 'SUCCESS'));
      expect(new Set(sent.map(({ signalId }) => signalId)).size).toBe(1);
      expect(receiver.delivered(id)).toBe(1);
    });

    it('a restart of either side: what was accepted stays accepted, although phase4 itself has forgotten it', async () => {
      const id = freshId();
      const recorded = await recordFromPhase4(id);
      const first = await post(recorded);
      expect(refersTo(first.body)).toBe(id);
      await receiver.kill();
      receiver = await startReceiver({ dir: join(folder.path, 'delivered'), port: receiver.port });
      const { configFile } = front;
      await front.kill();
      front = await startFrontFrom(configFile);
      const copy = await post(recorded);
      expect(copy.headers['as4-once-answer']).toBe('replay');
      expect(copy.body.equals(first.body)).toBe(true);
      expect(receiver.delivered(id)).toBe(1);
    });

    it('20 MB: delivered once, replayed once', async () => {
      const id = freshId();
      const doc = join(folder.path, 'large.xml');
      makeInvoice(20_000_000, doc);
      const recorded = await recordFromPhase4(id, ['--doc', doc]);
      expect(recorded.body.length).toBeGreaterThan(14_000_000);
      // on a busy machine phase4 takes longer than times.answerBy: then its sender has 504 first, and the Receipt later
      const first = await receipted(recorded);
      expect((await post(recorded)).body.equals(first.body)).toBe(true);
      expect(receiver.delivered(id)).toBe(1);
    });

    it("the same document under a new MessageId: delivered, and marked with the first one's id", async () => {
      const [first, second] = [freshId(), freshId()];
      const sbdh = join(folder.path, 'resent.sbd');
      expect((await sendWithPhase4(front.url, ['--message-id', first, '--save-sbdh', sbdh]))[0]!.result).toBe(
        'SUCCESS',
      );
      expect((await sendWithPhase4(front.url, ['--message-id', second, '--doc', sbdh]))[0]).toMatchObject({
        result: 'SUCCESS',
        nrr: 'match',
      });
      expect([receiver.delivered(first), receiver.delivered(second)]).toEqual([1, 1]);
      expect(await front.logged({ event: 'resend', messageId: second })).toMatchObject({ first });
      expect(await exchange(second)).toMatchObject({ answer: 'resend' });
    });

    it("a failing backend: phase4's Error, then 503 while phase4 remembers the id that it burnt, then one delivery", async () => {
      const id = freshId();
      const burning = await startReceiver({
        dir: join(folder.path, 'burnt'),
        flags: ['--fail-first', '--dupe-window', '1m'],
      });
      const before = await startFront({
        upstream: burning.url,
        accessPoint: 'phase4',
        ledger: { embedded: join(folder.path, 'ledger') },
        scope: 'burning',
      });
      const recorded = await recordFromPhase4(id);
      const failed = await post(recorded, before.url);
      expect([failed.status, errorCodes(failed.body), burning.failed(id)]).toEqual([200, ['EBMS:0004'], 1]);
      const burnt = await post(recorded, before.url);
      expect([burnt.status, burnt.body.toString().split(':')[0]]).toEqual([503, 'UPSTREAM_BURNT']);
      await before.logged({ event: 'burnt', messageId: id });
      const statuses = new Set<number>();
      let accepted: Answer | undefined;
      for (const until = performance.now() + 240_000; accepted === undefined && performance.now() < until;) {
        const answer = await post(recorded, before.url);
        statuses.add(answer.status);
        if (answer.status === 200) accepted = answer;
        else await new Promise((resolve) => setTimeout(resolve, 5_000));
      }
      expect(statuses).toEqual(new Set([503, 200]));
      expect(refersTo(accepted!.body)).toBe(id);
      expect((await post(recorded, before.url)).body.equals(accepted!.body)).toBe(true);
      expect([burning.failed(id), burning.delivered(id)]).toEqual([1, 1]);
      await before.stop();
      await burning.stop();
    });

    it("an attempt that phase4's own end cut off is held; settle and release both resolve it", async () => {
      const dir = join(folder.path, 'slow');
      let slow = await startReceiver({ dir, flags: ['--slow', '20000'] });
      const before = await startFront({
        upstream: slow.url,
        accessPoint: 'phase4',
        ledger: { embedded: join(folder.path, 'ledger') },
        scope: 'slow',
      });
      const messages = [await recordFromPhase4(freshId()), await recordFromPhase4(freshId())] as const;
      const cut = messages.map((recorded) => post(recorded, before.url));
      await before.metricIs('as4_once_under_way', 2);
      // it has both of them: their answer is what it is slow with
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      await slow.kill();
      expect((await Promise.all(cut)).map(({ status }) => status)).toEqual([502, 502]);
      slow = await startReceiver({ dir, port: slow.port });
      for (const recorded of messages) {
        expect((await post(recorded, before.url)).body.toString()).toMatch(/^HELD/);
        expect(slow.delivered(recorded.messageId)).toBe(0);
      }
      const config = ['--config', before.configFile];
      const listed = await runCli(['list', '--held', ...config]);
      for (const { messageId } of messages) expect(listed.stdout).toContain(messageId);

      const [settled, released] = messages;
      // a real phase4 Receipt for this very message, as an operator finds it in the access point's own store
      const receipt = await send(receiver.url, {
        body: settled.body,
        headers: { ...settled.headers, 'Accept-Encoding': 'identity' },
      });
      writeFileSync(join(folder.path, 'receipt.xml'), receipt.body);
      const foreign = await runCli([
        'settle',
        released.messageId,
        '--receipt',
        join(folder.path, 'receipt.xml'),
        '--reason',
        'wrong',
        ...config,
      ]);
      expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('RECEIPT_FOREIGN')]);
      expect(
        await runCli([
          'settle',
          settled.messageId,
          '--receipt',
          join(folder.path, 'receipt.xml'),
          '--reason',
          'found in its store',
          ...config,
        ]),
      ).toMatchObject({ code: 0, stderr: '' });
      const replayed = await post(settled, before.url);
      expect(replayed.body.equals(readFileSync(join(folder.path, 'receipt.xml')))).toBe(true);

      expect(await runCli(['release', released.messageId, '--reason', 'not in its store', ...config])).toMatchObject({
        code: 0,
        stderr: '',
      });
      const delivered = await post(released, before.url);
      expect([delivered.status, refersTo(delivered.body)]).toEqual([200, released.messageId]);
      expect(
        await before.logged({ event: 'exchange', messageId: released.messageId, answer: 'redelivery' }),
      ).toBeDefined();
      expect([slow.delivered(settled.messageId), slow.delivered(released.messageId)]).toEqual([0, 1]);
      expect((await runCli(['list', '--held', ...config])).stdout).toBe('none\n');
      await eventually(
        async () => ((await runCli(['list', '--uncertain', ...config])).stdout === 'none\n' ? true : undefined),
        () => 'nothing to be uncertain',
      );
      await before.stop();
      await slow.stop();
    });
  },
);
