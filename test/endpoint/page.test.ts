import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/errors.js';
import { ROOT } from '../support/child.js';
import { honest, serveEndpoint } from './served.js';

const page = readFileSync(join(ROOT, 'docs/endpoint.md'), 'utf8');

/** Names at any depth of a JSON value. */
function names(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [name]), ...names(inner)]);
}

// what an application gets stood in the code alone: whoever wrote one had to deliver a message and look
describe('docs/endpoint.md', () => {
  it('names every field of message.json', async () => {
    const served = await serveEndpoint();
    try {
      expect((await served.post(honest())).what).toBe('receipt');
      const [folder = ''] = readdirSync(served.deliveries);
      const message = JSON.parse(readFileSync(join(served.deliveries, folder, 'message.json'), 'utf8')) as object;
      expect(Object.keys(message).length).toBeGreaterThan(8);
      expect([...new Set(names(message))].filter((name) => !page.includes(`"${name}"`))).toEqual([]);
    } finally {
      await served.close();
    }
  });

  it('names every field that is posted to an application', async () => {
    let posted: IncomingHttpHeaders = {};
    const server = createServer((request, response) => {
      posted = request.headers;
      request.resume().on('end', () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const served = await serveEndpoint({ endpoint: { backend: { http: { url, token: 't' } } } });
    try {
      expect((await served.post(honest())).what).toBe('receipt');
      const ours = Object.keys(posted).filter((name) => /^as4-|^idempotency|^authorization/.test(name));
      expect(ours.length).toBeGreaterThan(9);
      const said = page.toLowerCase();
      expect(ours.filter((name) => !new RegExp(`\`${name}\\b`).test(said))).toEqual([]);
    } finally {
      await served.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    }
  });

  it('names every ebMS error that an endpoint sends, and no other', () => {
    const sent = Object.values(ERRORS).flatMap((entry) => ('ebms' in entry && entry.ebms !== undefined ? [entry.ebms.code] : []));
    expect(new Set(page.match(/EBMS:\d{4}/g))).toEqual(new Set(sent));
  });
});
