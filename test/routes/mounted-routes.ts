import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../src/clock.js';
import { createFront, Events, memoryLedger, type EventMap, type ExchangeEvent, type MountOptions } from '../../src/index.js';
import { startUpstream, type ScriptedUpstream, type Step } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';

type RouteOptions = Omit<NonNullable<MountOptions['routes']>[number], 'path' | 'upstream'>;

/** One route of a front on real sockets, before a scripted upstream. */
export interface MountedRoute {
  readonly upstream: ScriptedUpstream;
  readonly exchanges: readonly ExchangeEvent[];
  readonly shadows: readonly EventMap['shadow'][];
  /** Lets the wall clock of front and ledger jump. */
  pass(ms: number): void;
  post(body: string, headers?: Readonly<Record<string, string>>): Promise<Got>;
  close(): Promise<void>;
}

export interface Got {
  readonly status: number;
  readonly text: string;
  header(name: string): string | null;
}

export async function mountRoute(route: RouteOptions, standing: Step, more: Partial<MountOptions> = {}): Promise<MountedRoute> {
  const folder = tempDir('route');
  const upstream = await startUpstream(standing, '/in');
  let ahead = 0;
  const clock = Object.assign(Object.create(systemClock) as Clock, { now: () => systemClock.now() + ahead });
  const events = new Events();
  const exchanges: ExchangeEvent[] = [];
  const shadows: EventMap['shadow'][] = [];
  events.on('exchange', (event) => exchanges.push(event));
  events.on('shadow', (event) => shadows.push(event));
  const front = createFront({
    ledger: memoryLedger({ clock }), clock, events,
    spool: join(folder.path, 'spool'), journal: join(folder.path, 'journal'), state: join(folder.path, 'state'),
    routes: [{ ...route, path: '/in', upstream: upstream.url }],
    ...more,
  });
  const server = createServer((request, response) => front.handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
  return {
    upstream, exchanges, shadows,
    pass: (ms) => {
      ahead += ms;
    },
    post: async (body, headers = {}) => {
      const answer = await fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/octet-stream', ...headers } });
      return { status: answer.status, text: await answer.text(), header: (name) => answer.headers.get(name) };
    },
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await front.close({ graceMs: 1_000 });
      await upstream.close();
      folder.remove();
    },
  };
}
