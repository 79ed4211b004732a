import { describe, expect, it } from 'vitest';
import { inspectConfig } from '../../src/config/load.js';
import { As4OnceError } from '../../src/errors.js';

const FRONT = `role: front
listen: 127.0.0.1:8080
upstream: http://127.0.0.1:8081/as4
accessPoint: phase4
ledger: { embedded: ./data }
`;
const ENDPOINT = `role: endpoint
listen: 127.0.0.1:8080
ledger: { embedded: ./data }
endpoint: { profile: peppol, keys: { certificate: a.pem, key: a.key }, backend: { directory: in } }
security: { trust: root.pem }
`;
const PARTNERS = 'partners:\n';

/** Codes of the warnings; of a refused file its problems. */
function found(text: string): readonly string[] {
  try {
    return inspectConfig({ text, name: 'f.yaml' }, { env: {} }).warnings.map(({ code, at }) => `${code} ${at.join('.')}`);
  } catch (error) {
    if (error instanceof As4OnceError && error.code === 'CONFIG_INVALID') return error.detail.split('\n');
    throw error;
  }
}

describe('cross checks', () => {
  it('find nothing wrong with plain files', () => {
    expect(found(FRONT)).toEqual([]);
    expect(found(ENDPOINT)).toEqual([]);
  });

  it.each<[string, string, RegExp]>([
    ['a renewal that comes after the lease', `${FRONT}times: { lease: 4s, renew: 2s }\n`, /^f.yaml:6:28 times.renew: .*less than half of lease \(4000 ms\)/],
    ['two rules for one message', `${FRONT}${PARTNERS}  - { name: a, match: { from: A } }\n  - { name: b, match: { to: B } }\n`, /^f.yaml:8:23 partners\[1\].match: ties with partners\[0\] \(a\)/],
    ['a tie between a partner of the file and one of a route', `${FRONT}${PARTNERS}  - { match: { from: A } }\nroutes:\n  - { path: /, upstream: "http://127.0.0.1:9/", partners: [{ match: { from: A } }] }\n`, /routes\[0\].partners\[0\].match: ties with partners\[0\]/],
    ['two partners of one name', `${FRONT}${PARTNERS}  - { name: a, match: { from: A } }\n  - { name: a, match: { from: B } }\n`, /^f.yaml:8:13 partners\[1\].name: partners\[0\] has the name a too/],
    ['elimination for a partner whose Receipts come by callback', `${FRONT}${PARTNERS}  - { match: { from: A }, replyPattern: callback }\n`, /partners\[0\].replyPattern: callback needs mode: detect-only/],
    ['elimination taken up again by such a partner', `${FRONT}defaults: { replyPattern: callback, mode: detect-only }\n${PARTNERS}  - { match: { from: A }, mode: eliminate }\n`, /partners\[0\].replyPattern: callback needs/],
    ['date and time in the key of AS4', `${FRONT}defaults: { key: reference+datetime }\n`, /^f.yaml:6:18 defaults.key: \+datetime is for EDIFACT and X12/],
    ['an upstream that is ourselves', FRONT.replace('8081', '8080'), /^f.yaml:3:11 upstream: leads back to our own listener/],
    ['an upstream that is ourselves by another name', FRONT.replace('127.0.0.1:8081', 'localhost:8080').replace('listen: 127.0.0.1', 'listen: 0.0.0.0'), /upstream: leads back/],
    ['admin on the traffic listener', `${FRONT}admin: { listen: "0.0.0.0:8080", token: t }\n`, /admin.listen: is the traffic listener's address/],
    ['two routes of one path', `${FRONT}routes: [{ path: /a, upstream: "http://127.0.0.1:9/" }, { path: /a, upstream: "http://127.0.0.1:9/" }]\n`, /routes\[1\].path: another route has the path \/a/],
    ['protocol reference without its rule', `${FRONT}routes: [{ path: /a, protocol: reference, upstream: "http://127.0.0.1:9/" }]\n`, /routes\[0\].reference: is missing: where does the reference stand/],
    ['a route without upstream', `${FRONT}routes: [{ path: /a, protocol: x12 }]\n`, /routes\[0\].upstream: is missing/],
    ['verification without trust', `${FRONT}defaults: { verify: signature }\n`, /defaults.verify: needs security.trust/],
    ['an endpoint without keys', ENDPOINT.replace(/keys: \{.*?\}, /, ''), /endpoint.keys: is missing/],
    ['an endpoint without backend', ENDPOINT.replace(/, backend: \{.*?\}/, ''), /endpoint.backend: is missing: give a directory or http/],
    ['an endpoint that trusts nobody', ENDPOINT.replace(/^security.*\n/m, ''), /security.trust: is missing/],
    ['a backend that is ourselves', ENDPOINT.replace('directory: in', 'http: "http://localhost:8080/in"'), /^f.yaml:4:89 endpoint.backend.http: leads back to our own listener/],
    ['messages without signature under a named profile', `${ENDPOINT}${PARTNERS}  - { match: { from: A }, security: { signature: optional } }\n`, /partners\[0\].security.signature: profile peppol demands signatures; optional is for profile custom/],
    ['an endpoint without endpoint', ENDPOINT.replace(/^endpoint.*\n/m, ''), /endpoint: is missing: role endpoint needs profile and keys/],
  ])('refuse %s', (_, text, problem) => {
    const lines = found(text);
    expect(lines.some((line) => problem.test(line)), lines.join('\n')).toBe(true);
  });

  it.each<[string, string, readonly string[]]>([
    ['lease, wait, answerBy and patience out of order', `${FRONT}times: { wait: 10s, answerBy: 5s, patience: 4s }\n`, ['TIMES_ORDER times.wait', 'TIMES_ORDER times.answerBy', 'TIMES_ORDER times.patience']],
    ['a window shorter than twice the patience', `${FRONT}defaults: { window: 19m }\n${PARTNERS}  - { match: { from: A }, window: 1m }\n  - { match: { from: B }, window: 20m }\n`, ['WINDOW_SHORT defaults.window', 'WINDOW_SHORT partners.0.window']],
    ['otherSender without key: reference', `${FRONT}${PARTNERS}  - { match: { from: A }, otherSender: deliver }\n`, ['OTHER_SENDER_UNUSED partners.0.otherSender']],
    ['a ledger that forgets', FRONT.replace('{ embedded: ./data }', '{ memory: true }'), ['MEMORY_LEDGER ledger.memory']],
    ['a previous key that is the key', `${FRONT}defaults: { previousKey: reference+sender }\n`, ['PREVIOUS_KEY_SAME defaults.previousKey']],
    ['blind redelivery', `${FRONT.replace('phase4', 'oxalis')}defaults: { uncertain: redeliver }\n`, ['REDELIVER_BLIND defaults.uncertain']],
    ['content in the key', `${FRONT}defaults: { key: reference+content }\n`, ['KEY_CONTENT defaults.key']],
    ['an admin listener open to everybody', `${FRONT}admin: { listen: 0.0.0.0:9080 }\n`, ['ADMIN_OPEN admin.listen']],
    ['payload keys where nobody reads payloads', `${FRONT}${PARTNERS}  - { match: { from: A }, payloadKeys: [ubl] }\n`, ['PAYLOAD_KEYS_UNUSED partners.0.payloadKeys']],
    ['less than Peppol demands', `${ENDPOINT.replace('root.pem', 'root.pem, encryption: optional')}${PARTNERS}  - { match: { from: A }, security: { commonName: false, allow: [rsa15] } }\n`,
      ['PROFILE_WEAKENED security.encryption', 'PROFILE_WEAKENED partners.0.security.commonName', 'PROFILE_WEAKENED partners.0.security.allow']],
    ['messages that must be encrypted, and no key that decrypts', ENDPOINT.replace('key: a.key', 'key: a.key, use: [sign]'), ['KEYS_DECRYPT endpoint.keys']],
    ['a reference rule that is not used', `${FRONT}routes: [{ path: /a, upstream: "http://127.0.0.1:9/", reference: { header: A } }]\n`, ['REFERENCE_UNUSED routes.0.reference']],
  ])('warn of %s', (_, text, warnings) => expect(found(text)).toEqual(warnings));

  it('leave profile custom to those who agree on it', () => {
    const custom = ENDPOINT.replace('peppol', 'custom').replace('root.pem', 'root.pem, encryption: optional, signature: optional, allow: [sha1]');
    expect(found(custom.replace('key: a.key', 'key: a.key, use: [sign]'))).toEqual([]);
    expect(found(ENDPOINT.replace('peppol', 'edelivery').replace('root.pem', 'root.pem, commonName: false'))).toEqual([]);
  });

  it('accept a callback partner that only detects, an open admin listener with a token, and an endpoint whose program has a handler', () => {
    expect(found(`${FRONT}${PARTNERS}  - { match: { from: A }, replyPattern: callback, mode: detect-only }\n`)).toEqual([]);
    expect(found(`${FRONT}admin: { listen: 0.0.0.0:9080, token: t }\n`)).toEqual([]);
    expect(() => inspectConfig({ text: ENDPOINT.replace(/, backend: \{.*?\}/, '') }, { env: {}, handler: true })).not.toThrow();
  });

  it('say a thing about a partner of the file once, however many routes it belongs to', () => {
    const text = `${FRONT}${PARTNERS}  - { match: { from: A }, otherSender: deliver }\nroutes: [{ path: /a, upstream: "http://127.0.0.1:9/" }, { path: /b, upstream: "http://127.0.0.1:9/" }]\n`;
    expect(found(text)).toEqual(['OTHER_SENDER_UNUSED partners.0.otherSender']);
  });

  it('take ten thousand partners', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `  - { match: { from: "POP${i}" }, window: ${(i % 300) + 1}d }\n`).join('');
    const { config } = inspectConfig({ text: FRONT + PARTNERS + many }, { env: {} });
    expect(config.routes[0]?.rules.partners).toHaveLength(10_000);
  });
});
