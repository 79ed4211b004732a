import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adminApp } from '../../src/admin/app.js';
import { attachLog } from '../../src/admin/log.js';
import { systemClock, type Clock } from '../../src/clock.js';
import { composeAdmin, type Admin } from '../../src/compose-admin.js';
import { compose, type Once } from '../../src/compose.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import { present } from '../../src/config/values.js';
import { Events } from '../../src/events.js';
import { listen, type Listening } from '../../src/http/server.js';
import { serverTls } from '../../src/config/pem-files.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { as4Message, type MessageChoices } from '../support/messages.js';
import { send, type Answer } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';

export const TOKEN = 'canary-token-4711-0815';

/** A front with its operator's listener, put together as `serve` does it, in this process: real sockets, real answers. */
export interface Operated {
  readonly once: Once;
  readonly admin: Admin;
  readonly url: string;
  readonly listening: Listening;
  readonly upstream: ScriptedUpstream;
  readonly config: Config;
  /** Lines of the log so far. */
  log(): Record<string, unknown>[];
  /** Sends one message to the traffic port. */
  message(choices?: MessageChoices): Promise<Answer>;
  /** One question to the admin API; with the token unless told otherwise. */
  ask(path: string, options?: { token?: string | null; body?: unknown; headers?: Record<string, string> }): Promise<{ status: number; headers: Headers; json: any }>;
  close(): Promise<void>;
}

export async function operate(more: object = {}, options: { clock?: Clock; admin?: object; configFile?: string } = {}): Promise<Operated> {
  const folder = tempDir('admin');
  const upstream = await startUpstream(receipt());
  const config = loadConfig({
    value: {
      role: 'front', listen: '127.0.0.1:0', upstream: upstream.url, accessPoint: 'other', ledger: { memory: true },
      journal: `${folder.path}/journal`, spool: `${folder.path}/spool`, state: `${folder.path}/state`, node: 'node-1',
      admin: present({ listen: '127.0.0.1:0', token: TOKEN, ...options.admin }),
      defaults: { window: '90d' },
      partners: [{ name: 'Acme', match: { from: 'POP000001' }, window: '180d' }],
      ...more,
    },
    name: 'front.yaml',
  });
  const { clock = systemClock } = options;
  const events = new Events();
  let lines = '';
  attachLog(events, { level: 'info', destination: { write: (line: string) => void (lines += line) } });
  const once = compose({ config, events, ledger: memoryLedger({ clock }), clock });
  const admin = composeAdmin(once, config, options.configFile ?? '/etc/as4-once/it\'s here.yaml', clock);
  const traffic = createServer((request, response) => once.handler(request, response));
  await new Promise<void>((resolve) => traffic.listen(0, '127.0.0.1', resolve));
  const { metrics: registry, health, ready } = once;
  const tls = config.admin?.tls;
  const listening = await listen(adminApp({ registry, health, ready, ...admin }), {
    host: '127.0.0.1', port: 0, headersMs: 5_000, keepAliveMs: 5_000, ...(tls === undefined ? {} : { tls: serverTls(tls) }),
  }, systemClock);
  const { port } = traffic.address() as AddressInfo;
  return {
    once, admin, listening, upstream, config,
    url: listening.url,
    log: () => lines.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>),
    message: (choices) => send(`http://127.0.0.1:${port}/as4`, as4Message(choices)),
    ask: async (path, { token = TOKEN, body, headers = {} } = {}) => {
      const answer = await fetch(`${listening.url}/api${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: answer.status, headers: answer.headers, json: await answer.json() };
    },
    close: async () => {
      admin.close();
      await listening.close(100);
      traffic.closeAllConnections();
      await new Promise((resolve) => traffic.close(resolve));
      await once.close({ graceMs: 100 });
      await upstream.close();
      folder.remove();
    },
  };
}
