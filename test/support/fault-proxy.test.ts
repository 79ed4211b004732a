import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { faultProxy, type FaultProxy } from './fault-proxy.js';

/** What the real server behind the proxy has executed. */
let seen: string[];
let server: Server;
let proxy: FaultProxy;

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    }).on('end', () => {
      seen.push(body);
      response.end(`did ${body}`);
    }).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy = await faultProxy({ port: (server.address() as { port: number }).port });
});
afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const post = async (body: string, signal?: AbortSignal): Promise<string> =>
  (await fetch(`http://127.0.0.1:${proxy.port}/`, { method: 'POST', body, ...(signal === undefined ? {} : { signal }) })).text();

describe('the fault proxy', () => {
  it('changes nothing while nothing is asked of it, large bodies included', async () => {
    const large = 'x'.repeat(3_000_000);
    expect(await post('a')).toBe('did a');
    expect(await post(large)).toBe(`did ${large}`);
    proxy.delay(5);
    expect(await post('slow')).toBe('did slow');
  });

  it('eats the reply of the n-th exchange: done, but not known', async () => {
    const eaten = proxy.eatReply({ nth: 2 });
    expect(await post('one')).toBe('did one');
    await expect(post('two')).rejects.toThrow();
    await eaten;
    expect(await post('three')).toBe('did three');
    expect(seen).toEqual(['one', 'two', 'three']);
  });

  it('eats the reply of the exchange whose request holds a pattern', async () => {
    const eaten = proxy.eatReply({ pattern: /tw./, nth: 2 });
    expect(await post('two')).toBe('did two');
    expect(await post('one')).toBe('did one');
    await expect(post('twin')).rejects.toThrow();
    await eaten;
    expect(await post('twist')).toBe('did twist');
    expect(seen).toEqual(['two', 'one', 'twin', 'twist']);
  });

  it('cuts a request after so many bytes: begun, never finished', async () => {
    const done = proxy.cutAfter(200);
    await expect(post('y'.repeat(10_000))).rejects.toThrow();
    await done;
    expect(seen).toEqual([]);
    expect(await post('again')).toBe('did again');
  });

  it('is a black hole until healed, and half of one', async () => {
    for (const hole of [() => proxy.blackHole(), () => proxy.halfOpen('up'), () => proxy.halfOpen('down')]) {
      hole();
      const leave = new AbortController();
      const waiting = post('lost', leave.signal).then(() => 'answered', () => 'left');
      while (proxy.open === 0) await new Promise((resolve) => setImmediate(resolve));
      leave.abort();
      expect(await waiting).toBe('left');
      proxy.cut();
      proxy.heal();
      expect(await post('after')).toBe('did after');
    }
  });

  it('refuses and cuts', async () => {
    expect(await post('a')).toBe('did a');
    proxy.refuse();
    proxy.cut();
    await expect(post('b')).rejects.toThrow();
    proxy.heal();
    expect(await post('c')).toBe('did c');
    expect(seen).toEqual(['a', 'c']);
  });
});
