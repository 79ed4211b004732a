import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { as4Message, identity, type MessageChoices, type TestMessage } from '../support/messages.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { startFront, stopFronts, type Front } from './front-process.js';
import { errorCodes, freshId, post, refersTo } from './messages.js';

/** A front that looks (`verify: signature`): what a forger sends neither claims an id nor reaches the access point. */
describe('verify: signature', () => {
  const folder = tempDir('verify');
  const sender = identity('POP000001');
  const neighbour = identity('POP000003');
  const stranger = identity('POP000001 stranger');
  const receiver = identity('POP000002');
  let upstream: ScriptedUpstream;
  let front: Front;
  let before = 0;
  beforeAll(async () => {
    writeFileSync(join(folder.path, 'trust.pem'), sender.certificate.toString() + neighbour.certificate.toString());
    upstream = await startUpstream(receipt());
    front = await startFront({
      upstream: upstream.url, ledger: { embedded: join(folder.path, 'ledger') }, security: { trust: join(folder.path, 'trust.pem') },
      defaults: { verify: 'signature', resend: 'off' },
      partners: [{ match: { from: 'BLIND' }, verify: 'none' }],
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    folder.remove();
  });
  beforeEach(() => {
    before = upstream.requests.length;
  });
  const delivered = (): number => upstream.requests.length - before;
  const signed = (choices: MessageChoices = {}): TestMessage => as4Message({ messageId: freshId(), signer: sender, payloads: ['<a>1</a>'], ...choices });

  it('an honest message goes on as it came, in clear or encrypted, and its copy is a replay', async () => {
    for (const more of [{}, { compress: true, receiver: receiver.certificate }, { soap: '1.1' as const }]) {
      const message = signed(more);
      const first = await post(front.url, message);
      expect(refersTo(first.body)).toBe(message.messageId);
      expect((await post(front.url, message)).body).toEqual(first.body);
    }
    expect(delivered()).toBe(3);
    expect(upstream.requests.at(-1)?.body.length).toBeGreaterThan(0);
  });

  it.each<[string, string, (id: string) => TestMessage]>([
    ['a stranger', 'EBMS:0101', (id) => signed({ messageId: id, signer: stranger })],
    ['a trusted neighbour under another name', 'EBMS:0101', (id) => signed({ messageId: id, signer: neighbour })],
    ['no signature', 'EBMS:0103', (id) => as4Message({ messageId: id })],
    ['a header that was changed', 'EBMS:0101', (id) => signed({ messageId: id, plan: { tamper: (x) => x.replace('9915:c4', '9915:c5') } })],
    ['a part in clear that was changed', 'EBMS:0101', (id) => {
      const message = signed({ messageId: id });
      return { ...message, body: Buffer.from(message.body.toString('latin1').replace('<a>1</a>', '<a>2</a>'), 'latin1') };
    }],
  ])('%s first: refused at the door, and the genuine message is a first one', async (_, code, forge) => {
    const id = freshId();
    const forged = await post(front.url, forge(id));
    expect(errorCodes(forged.body)).toEqual([code]);
    expect(delivered()).toBe(0);
    expect(refersTo((await post(front.url, signed({ messageId: id }))).body)).toBe(id);
    expect(upstream.requests[before]?.header('as4-once-copy')).toBe('first');
  });

  it('a partner that is not looked at is not', async () => {
    const message = as4Message({ messageId: freshId(), from: 'BLIND' });
    expect(refersTo((await post(front.url, message)).body)).toBe(message.messageId);
  });
});
