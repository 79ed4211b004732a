// `as4-once read --config` said `held` of a message after an uncertain attempt, and the running front delivered it again,
// marked: the command judged as if no access point remembered anything, whatever stood in the file. And a bare
// eb:Messaging without an envelope was described as a business document that could be read.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.js';
import { accessPointOf, memoryOf } from '../../src/config/access-point-of.js';
import { loadConfig } from '../../src/config/load.js';
import { tempDir } from '../support/temp-dir.js';

const routeOf = (more: object) =>
  loadConfig({ name: 'test', value: { role: 'front', listen: '127.0.0.1:0', upstream: 'http://127.0.0.1:9/as4', accessPoint: 'phase4', ledger: { memory: true }, ...more } }).routes[0]!;

describe('what is foretold', () => {
  it('counts with the memory of the access point behind the route', () => {
    expect(memoryOf(routeOf({}))).toMatchObject({ remembersMs: 600_000, persistent: false });
    expect(memoryOf(routeOf({ accessPoint: 'holodeck' }))).toMatchObject({ remembersMs: 30 * 86_400_000, persistent: true });
    const changed = routeOf({ upstream: { url: 'http://127.0.0.1:9/as4', remembers: '1h', persistent: true, notReached: [429, 502] } });
    expect(accessPointOf(changed)).toMatchObject({ name: 'phase4', remembersMs: 3_600_000, persistent: true, notReached: [429, 502] });
  });

  it('a bare eb:Messaging is AS4 that would be refused', async () => {
    const folder = tempDir('read');
    const file = join(folder.path, 'messaging.xml');
    writeFileSync(file, '<eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"/>');
    let out = '';
    const code = await main(['read', file, '--json'], { out: (text) => (out += text), err: (text) => (out += text), tty: false, env: {} });
    expect([code, JSON.parse(out)]).toEqual([1, expect.objectContaining({ verdict: 'reject', reason: expect.stringContaining('no SOAP envelope') })]);
    folder.remove();
  });
});
