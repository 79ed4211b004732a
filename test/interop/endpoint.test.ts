import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';
import { startFront, startFrontFrom, stopFronts, type Front } from '../front/front-process.js';
import { errorCodes, freshId } from '../front/messages.js';
import { phase4Home, phase4Missing, recordFromPhase4, sendWithPhase4 } from './phase4.js';

const missing = phase4Missing();

/** A real phase4 sender, and as4-once as the Peppol access point it sends to, with the sender's own test PKI. */
describe.skipIf(missing !== undefined)(`phase4 to the endpoint${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const folder = tempDir('interop-endpoint');
  const deliveries = join(folder.path, 'deliveries');
  let endpoint: Front;
  beforeAll(async () => {
    const pki = join(phase4Home(), 'pki');
    endpoint = await startFront({
      role: 'endpoint', accessPoint: undefined,
      endpoint: {
        profile: 'peppol', partyId: 'POP000002',
        keys: { certificate: join(pki, 'ap-b.crt.pem'), key: join(pki, 'ap-b.key.pem') },
        backend: { directory: deliveries },
      },
      security: { trust: join(pki, 'ca.crt.pem') },
      defaults: { sbdh: 'suppress' },
      ledger: { embedded: join(folder.path, 'ledger') },
    });
  });
  afterAll(async () => {
    await stopFronts();
    folder.remove();
  });
  const delivered = (): string[] => (existsSync(deliveries) ? readdirSync(deliveries) : []);

  it('gets a Receipt that it verifies; sent again, the same bytes; one document at the backend', async () => {
    const id = freshId();
    const sbdh = join(folder.path, 'kept.sbd');
    const before = delivered().length;
    const [first] = await sendWithPhase4(endpoint.url, ['--message-id', id, '--save-sbdh', sbdh]);
    expect(first).toMatchObject({ result: 'SUCCESS', http: 200, nrr: 'match' });
    // signed and encrypted anew by the sender's application
    const [again] = await sendWithPhase4(endpoint.url, ['--message-id', id, '--doc', sbdh]);
    expect(again).toMatchObject({ result: 'SUCCESS', http: 200, signalId: first!.signalId });
    expect(delivered()).toHaveLength(before + 1);
    const [one] = delivered().map((name) => join(deliveries, name));
    expect(readFileSync(join(one!, 'payload-1.xml'))).toEqual(readFileSync(sbdh));
    const lines = [await endpoint.logged({ event: 'exchange', messageId: id }), await endpoint.logged({ event: 'exchange', messageId: id }, 2)];
    expect(lines.map((line) => line['answer'])).toEqual(['first', 'replay']);
    expect(lines[1]!['receiptSha256']).toBe(lines[0]!['receiptSha256']);
  });

  it('a new MessageId with the same SBDH gets a Receipt of its own and is not delivered again', async () => {
    const before = delivered().length;
    const sent = await sendWithPhase4(endpoint.url, ['--count', '3', '--same-sbdh']);
    expect(sent.map((one) => [one.result, one.nrr])).toEqual(Array.from({ length: 3 }, () => ['SUCCESS', 'match']));
    expect(new Set(sent.map((one) => one.signalId)).size).toBe(3);
    expect(delivered()).toHaveLength(before + 1);
  });

  it('the same wire bytes, after a kill too, get the same answer', async () => {
    const recorded = await recordFromPhase4(freshId());
    const first = await send(endpoint.url, recorded);
    expect(first.body.toString()).toContain('NonRepudiationInformation');
    await endpoint.kill();
    endpoint = await startFrontFrom(endpoint.configFile);
    const before = delivered().length;
    expect((await send(endpoint.url, recorded)).body).toEqual(first.body);
    expect(delivered()).toHaveLength(before);
  });

  it('one bit of the cipher text is refused and costs nobody the id', async () => {
    const other = await recordFromPhase4(freshId());
    const broken = Buffer.from(other.body);
    broken[broken.length - 200] = (broken[broken.length - 200] ?? 0) ^ 1;
    expect(errorCodes((await send(endpoint.url, { ...other, body: broken })).body)).toEqual(['EBMS:0102']);
    expect((await send(endpoint.url, other)).body.toString()).toContain('NonRepudiationInformation');
  });
});
