import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { reset } from '../support/scripted-answers.js';
import { tempDir } from '../support/temp-dir.js';
import { operate, TOKEN, type Operated } from './operated.js';

const folder = tempDir('access');
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text);
  return join(folder.path, name);
};

let ours: Identity;
let anna: Identity;
let stranger: Identity;
let tls: object;
beforeAll(() => {
  const authority = makeIdentity('Operators CA');
  ours = makeIdentity('admin.test');
  anna = makeIdentity('Anna Berg', { issuer: authority });
  stranger = makeIdentity('Anna Berg', { issuer: makeIdentity('Another CA') });
  tls = { certificate: file('admin.pem', ours.certificatePem), key: file('admin.key', ours.keyPem), clientCa: file('ca.pem', authority.certificatePem) };
});
afterAll(() => folder.remove());

interface Got {
  readonly status: number;
  readonly json: any;
}

function ask(system: Operated, path: string, identity: Identity | undefined, body?: object, headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(`${system.url}/api${path}`, {
      method: body === undefined ? 'GET' : 'POST', agent: false, rejectUnauthorized: false,
      ...(identity === undefined ? {} : { cert: identity.certificatePem, key: identity.keyPem }),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => void (text += more)).on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
    });
    asked.once('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe('a client certificate', () => {
  let system: Operated;
  beforeAll(async () => {
    system = await operate({}, { admin: { tls: { ...tls, clientAuth: 'request' } } });
  });
  afterAll(() => system.close());

  it('makes an operator of whom the authority names, and of nobody else', async () => {
    expect((await ask(system, '/health', anna)).json.can).toEqual({ read: true, write: true, name: 'Anna Berg', signIn: 'token' });
    expect((await ask(system, '/status', anna)).status).toBe(200);
    for (const identity of [undefined, stranger]) {
      expect((await ask(system, '/health', identity)).json.can).toMatchObject({ read: false, write: false });
      expect((await ask(system, '/status', identity)).status).toBe(401);
    }
  });

  it('leaves the token as good as before', async () => {
    expect((await ask(system, '/status', undefined, undefined, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  });

  it('says who acts; a name in the request counts for nothing', async () => {
    system.upstream.next(reset('body'));
    await system.message({ messageId: 'cert@test' });
    const { key } = (await ask(system, '/records?id=cert%40test', anna)).json.records[0];
    const { status, json } = await ask(system, '/release', anna, { key, reason: 'not there', who: 'Somebody Else' });
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json.record.timeline.find(({ what }: { what: string }) => what === 'decision').text).toMatch(/^release by Anna Berg \(admin API/);
    expect(system.log().filter(({ event }) => event === 'operator').at(-1)).toMatchObject({ who: 'Anna Berg', done: true });
  });

  it('that the browser adds by itself does not act for a page of another site', async () => {
    const { status } = await ask(system, '/ledger/accept', anna, { reason: 'x' }, { origin: 'https://evil.example' });
    expect(status).toBe(400);
    expect((await system.once.ledger.meta()).accepted).toBeUndefined();
  });
});

describe('where a client certificate is required', () => {
  it('takes the place of the token, and without one there is no connection', async () => {
    const system = await operate({}, { admin: { token: undefined, tls: { ...tls, clientAuth: 'require' } } });
    expect((await ask(system, '/health', anna)).json.can).toMatchObject({ write: true, signIn: 'certificate' });
    for (const identity of [undefined, stranger]) await expect(ask(system, '/health', identity)).rejects.toThrow();
    await system.close();
  });
});
