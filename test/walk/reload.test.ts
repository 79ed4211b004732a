import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { compose } from '../../src/compose.js';
import { loadConfig } from '../../src/config/load.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import { as4Message } from '../support/messages.js';
import { after, receipt } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { send } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';

/**
 * What went wrong: a reload closed the connections of the old configuration as soon as no exchange used it any more. An
 * attempt whose sender had been answered 504 belongs to no exchange, so its connection was cut, its outcome was
 * uncertain, and a message that the access point had taken was held for an operator.
 */
it('a reload leaves an attempt its connection although its sender was answered 504', async () => {
  let answer = (): void => undefined;
  const gate = new Promise<void>((resolve) => (answer = resolve));
  const upstream = await startUpstream(after(gate, receipt()));
  const folder = tempDir('reload');
  const config = loadConfig({
    value: {
      role: 'front', listen: '127.0.0.1:0', upstream: upstream.url, accessPoint: 'other', ledger: { memory: true },
      journal: `${folder.path}/journal`, spool: `${folder.path}/spool`, state: `${folder.path}/state`, times: { answerBy: '300ms' }, defaults: { window: '90d' },
    },
  });
  const once = compose({ config, ledger: memoryLedger() });
  const server = createServer((request, response) => once.handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`;
  const late = new Promise<string>((resolve) => once.events.on('lateOutcome', ({ outcome }) => resolve(outcome)));

  const message = { messageId: 'late@test' };
  expect((await send(url, as4Message(message))).status).toBe(504);
  once.reload(config);
  answer();
  expect(await late).toBe('accepted');
  expect((await send(url, as4Message(message))).headers['as4-once-answer']).toBe('replay');
  expect(upstream.requests).toHaveLength(1);

  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await once.close({ graceMs: 100 });
  await upstream.close();
  folder.remove();
});
