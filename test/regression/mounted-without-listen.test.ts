import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createFront, memoryLedger } from '../../src/index.js';
import { systemClock } from '../../src/clock.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { as4Message, identity } from '../support/messages.js';
import { send } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';

// createFront refused every call: the checks of a configuration file asked for `listen`, which a role that is mounted in
// somebody's own server has no use for and its options cannot even name. Nothing had ever called it.
describe('a front mounted in a server of one\'s own', () => {
  it('needs no listener of its own', async () => {
    const folder = tempDir('mounted');
    const upstream = await startUpstream(receipt());
    const at = (name: string): string => `${folder.path}/${name}`;
    const front = createFront({
      upstream: upstream.url, accessPoint: 'phase4', ledger: memoryLedger({ clock: systemClock }),
      spool: at('spool'), journal: at('journal'), state: at('state'),
    });
    const server = createServer((request, response) => front.handler(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const message = as4Message({ signer: identity() });
    const answer = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, message);
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toContain(message.messageId);
    server.close();
    await front.close({ graceMs: 0 });
    await upstream.close();
    folder.remove();
  });
});
