import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.js';
import { runCli } from '../support/child.js';
import { after, ebmsError, plain, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { ENGINES, startEngine, type Engine } from './engines.js';
import { startFront, stopFronts, type Front } from './front-process.js';
import { freshId, gate, message, post, signedMessage } from './messages.js';

const shared = process.env['AS4_ONCE_SHARED'] ?? join(import.meta.dirname, '../../../shared');
const corpus = join(shared, 'corpus');
const present = existsSync(join(corpus, 'expected.json'));

interface Expected {
  readonly category: string;
  readonly verdict: 'parse' | 'reject' | 'lenient';
  readonly contentType?: string | null;
  readonly messages?: readonly Record<string, unknown>[];
  readonly signatures?: readonly { readonly references: unknown }[];
}
const files = present
  ? Object.entries((JSON.parse(readFileSync(join(corpus, 'expected.json'), 'utf8')) as { files: Record<string, Expected> }).files).filter(([, { category }]) => category === 'as4')
  : [];

interface Read {
  readonly code: number;
  readonly shown: Record<string, unknown>;
}

/** The command as the shell calls it, in this process; what it prints is kept. */
async function read(...args: readonly string[]): Promise<Read> {
  let out = '';
  const code = await main(['read', ...args, '--json'], { out: (text) => (out += text), err: (text) => void (out += text), tty: false, env: process.env });
  return { code, shown: JSON.parse(out) as Record<string, unknown> };
}

const SHOWN = ['type', 'messageId', 'timestamp', 'refToMessageId', 'kinds', 'from', 'to', 'service', 'action', 'conversationId', 'payloads'];
const named = (of: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(SHOWN.filter((name) => of[name] !== undefined && of[name] !== null).map((name) => [name, of[name]]));

describe.skipIf(!present)('as4-once read, on every file of the AS4 corpus (needs ../shared/corpus)', () => {
  it.each(files)('%s', async (name, expected) => {
    const type = expected.contentType === undefined || expected.contentType === null ? [] : ['--content-type', expected.contentType];
    const { code, shown } = await read(join(corpus, name), ...type);
    if (expected.verdict === 'reject' || (expected.verdict === 'lenient' && code !== 0)) {
      expect([code, shown['verdict'], shown['reason']]).toEqual([1, 'reject', expect.stringMatching(/\w/)]);
      return;
    }
    expect([code, shown['verdict']]).toEqual([0, 'parse']);
    if (expected.verdict === 'lenient') return;
    expect(shown['messages']).toMatchObject((expected.messages ?? []).map(named));
    if (expected.signatures !== undefined) expect(shown['signatures']).toMatchObject(expected.signatures.map(({ references }) => ({ references })));
    if (expected.messages?.some(({ type }) => type === 'UserMessage') === true) {
      expect(shown).toMatchObject({
        key: expect.stringMatching(/^[\w-]+:[\w-]+$/), keyParts: { protocol: 'as4', reference: expect.any(String) },
        fingerprint: expect.stringMatching(/^(signed|plain|header|opaque):/), rule: 'defaults', window: '90d',
      });
    }
  });

  it('as a process of its own: fields for a person, an exit code for a script', async () => {
    const file = (name: string): string => join(corpus, 'as4', name);
    const [good, bad, none] = await Promise.all([
      runCli(['read', file('phase4__dump-raw.as4out')]), runCli(['read', file('sed__messaging_two_usermessages.xml')]), runCli(['read', file('no-such-file')]),
    ]);
    expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^verdict: parse$/m), stderr: '' });
    expect(good.stdout).toMatch(/messageId: \S+@\S+/);
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringMatching(/^verdict: reject$/m) });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('no-such-file') });
  });
});

/** What would happen now, by the ledger of a front that runs: read-only, and never a promise that is not kept. */
describe.each([ENGINES[0], ENGINES[1]])('as4-once read --config against a running front: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  const folder = tempDir('read');
  beforeAll(async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    front = await startFront({ upstream: upstream.url, ...engine.settings, partners: [{ match: { from: 'HOLDER' }, uncertain: 'hold', window: '180d' }] });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
    folder.remove();
  });

  const foretold = async (built: ReturnType<typeof message>): Promise<Record<string, unknown>> => {
    const file = join(folder.path, 'message.mime');
    writeFileSync(file, built.body);
    return (await read(file, '--content-type', built.contentType, '--config', front.configFile)).shown;
  };

  it('claim, then what came of it: wait, replay, mismatch', async () => {
    const id = freshId();
    expect(await foretold(signedMessage(id))).toMatchObject({ now: 'claim', rule: 'defaults', window: '90d' });
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const first = post(front.url, signedMessage(id));
    await upstream.arrived(upstream.requests.length + 1);
    expect(await foretold(signedMessage(id))).toMatchObject({ now: 'wait', record: { state: 'claimed', attempts: 1 } });
    working.open();
    await first;
    expect(await foretold(signedMessage(id))).toMatchObject({ now: 'replay', record: { state: 'settled', copies: 0 } });
    expect(await foretold(signedMessage(id, { payloads: ['<Invoice>altered</Invoice>'] }))).toMatchObject({ now: 'mismatch' });
    expect((await post(front.url, signedMessage(id))).headers['as4-once-answer']).toBe('replay');
    expect(await front.logged({ event: 'exchange', messageId: id }, 2)).toMatchObject({ copies: 1 });
  });

  it('claim after a certain rejection, redeliver after an uncertain attempt, held where policy says so; and so it comes', async () => {
    const [rejected, uncertain, held] = [message(freshId()), message(freshId()), message(freshId(), { from: 'HOLDER' })];
    upstream.next(ebmsError(), plain(200, 'text/html', 'hello'), plain(200, 'text/html', 'hello'));
    for (const built of [rejected, uncertain, held]) await post(front.url, built);
    expect(await foretold(rejected)).toMatchObject({ now: 'claim', record: { state: 'open', attempts: 1 } });
    expect(await foretold(uncertain)).toMatchObject({ now: 'redeliver' });
    expect(await foretold(held)).toMatchObject({ now: 'held', rule: 'HOLDER', window: '180d', record: { state: 'held' } });
    await post(front.url, rejected);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('first');
    await post(front.url, uncertain);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('redelivery');
    expect((await post(front.url, held)).status).toBe(503);
  });
});
