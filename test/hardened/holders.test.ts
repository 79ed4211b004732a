import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { after, ebmsError, hang, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { ENGINES, startEngine, type Engine } from '../front/engines.js';
import { eventually, startFront, stopFronts, type Front, type Settings } from '../front/front-process.js';
import { freshId, gate, message, post, refersTo } from '../front/messages.js';

/** Two processes, one message: who stands still, who takes over, and whose Receipt counts. */
describe.each(ENGINES)('two holders of one message: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let fronts: readonly [Front, Front];
  let settings: Settings;
  const lease = 1_500;
  beforeAll(async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    settings = {
      upstream: upstream.url,
      ...engine.settings,
      times: { lease: `${lease}ms`, wait: '20s', answerBy: '40s', settle: '5s' },
    };
    fronts = [await startFront({ ...settings, node: 'a' }), await startFront({ ...settings, node: 'b' })];
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('the owner is stopped for more than two leases, and its Receipt comes late: both clients get that Receipt', async () => {
    const id = freshId();
    const before = upstream.requests.length;
    const [firstDone, secondDone] = [gate(), gate()];
    upstream.next(
      after(firstDone.opened, receipt({ messageId: `late-${id}` })),
      after(secondDone.opened, ebmsError({ code: 'EBMS:4001' })),
    );
    const [a, b] = fronts;
    const first = post(a.url, message(id));
    await upstream.arrived(before + 1);
    a.process.pause();
    const second = post(b.url, message(id));
    // the other one takes over when the lease has lapsed, and tells the access point so
    const redelivered = await upstream.arrived(before + 2);
    expect([redelivered.header('as4-once-copy'), redelivered.header('as4-once-first')]).toEqual([
      'redelivery',
      encodeURIComponent(id),
    ]);
    await b.logged({ event: 'takeOver', messageId: id });
    await new Promise((resolve) => setTimeout(resolve, lease));
    firstDone.open();
    a.process.resume();
    const answer = await first;
    expect([answer.status, refersTo(answer.body)]).toEqual([200, id]);
    expect(answer.body.toString()).toContain(`late-${id}`);
    // the second holder is told that it is a duplicate, and its client never hears of that
    secondDone.open();
    expect((await second).body.equals(answer.body)).toBe(true);
    expect((await post(b.url, message(id))).body.equals(answer.body)).toBe(true);
    expect(upstream.requests).toHaveLength(before + 2);
  });

  it("both get a Receipt: the first one is everybody's, the other is told to the operator", async () => {
    const id = freshId();
    const before = upstream.requests.length;
    const [firstDone, secondDone] = [gate(), gate()];
    upstream.next(
      after(firstDone.opened, receipt({ messageId: `one-${id}` })),
      after(secondDone.opened, receipt({ messageId: `two-${id}` })),
    );
    const [a, b] = fronts;
    const first = post(b.url, message(id));
    await upstream.arrived(before + 1);
    b.process.pause();
    const second = post(a.url, message(id));
    await upstream.arrived(before + 2);
    secondDone.open();
    const answer = await second;
    expect(answer.body.toString()).toContain(`two-${id}`);
    firstDone.open();
    b.process.resume();
    expect((await first).body.equals(answer.body)).toBe(true);
    await b.logged({ event: 'twoReceipts', messageId: id });
    expect((await post(b.url, message(id))).body.equals(answer.body)).toBe(true);
  });
});

/** Node A's wall clock is right, node B's is an hour ahead: leases and windows run on the ledger's clock alone. */
describe.each(ENGINES.slice(1))('two nodes with clocks an hour apart: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  afterEach(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('neither takes over from the other, nor forgets early, nor keeps longer', async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    const settings = {
      upstream: upstream.url,
      ...engine.settings,
      times: { lease: '5s' },
      partners: [{ match: { from: 'SHORT' }, window: '2s', late: '1h' }],
    };
    const shift = join(tempDir('clock').path, 'an-hour-ahead.mjs');
    writeFileSync(
      shift,
      `
      const real = Date.now;
      const RealDate = Date;
      globalThis.Date = class extends RealDate { constructor(...given) { if (given.length === 0) super(real() + 3_600_000); else super(...given); } };
      Date.now = () => real() + 3_600_000;
    `,
    );
    const right = await startFront({ ...settings, node: 'right' });
    const ahead = await startFront(
      { ...settings, node: 'ahead' },
      { NODE_OPTIONS: `--import=${pathToFileURL(shift).href}` },
    );
    const id = freshId();
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const first = post(right.url, message(id));
    await upstream.arrived(1);
    const copy = post(ahead.url, message(id));
    await ahead.metricIs('as4_once_waiting', 1);
    working.open();
    const answer = await first;
    expect((await copy).body.equals(answer.body)).toBe(true);
    expect((await post(ahead.url, message(id))).headers['as4-once-answer']).toBe('replay');

    // the other way round, and with a window of two seconds on the ledger's clock
    const short = freshId();
    const built = message(short, { from: 'SHORT', timestamp: '2099-01-01T00:00:00Z' });
    const born = await post(ahead.url, built);
    const again = await post(right.url, built);
    expect([born.status, again.headers['as4-once-answer']]).toEqual([200, 'replay']);
    await eventually(
      async () => ((await post(right.url, built)).headers['as4-once-answer'] === undefined ? true : undefined),
      () => 'the window to end',
    );
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('late');
    expect(upstream.requests).toHaveLength(3);
    const health = (await (await fetch(`${ahead.admin}/healthz`)).json()) as { warnings: { code: string }[] };
    expect(health.warnings.map(({ code }) => code)).toContain('STORE_CLOCK_SKEW');
    expect(ahead.log().filter((line) => line.event === 'takeOver')).toEqual([]);
  });
});

describe('an access point that stands still, and a spool that is full', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
  });
  afterEach(() => stopFronts());
  afterAll(async () => {
    await upstream.close();
    await engine.close();
  });

  it('no answer within patience: uncertain, marked when it is tried again, and its client had 504', async () => {
    const front = await startFront({
      upstream: upstream.url,
      ...engine.settings,
      times: { lease: '200ms', wait: '300ms', answerBy: '500ms', patience: '1s' },
      defaults: { window: '1h' },
    });
    const id = freshId();
    upstream.next(hang());
    expect((await post(front.url, message(id))).status).toBe(504);
    await front.logged({ event: 'uncertain', messageId: id, reason: 'silent' });
    expect(refersTo((await post(front.url, message(id))).body)).toBe(id);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('redelivery');
  });

  it('a full spool refuses what would not fit, claims nothing, and has room again afterwards', async () => {
    const front = await startFront({
      upstream: upstream.url,
      ...engine.settings,
      limits: { memoryPerBody: '16 KiB', spoolDisk: '1 MiB' },
    });
    const [held, refused] = [freshId(), freshId()];
    const large = (id: string) => message(id, { payloads: ['x'.repeat(700_000)] });
    const before = upstream.requests.length;
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const first = post(front.url, large(held));
    await upstream.arrived(before + 1);
    const full = await post(front.url, large(refused));
    expect(full).toMatchObject({ status: 503, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(full.body.toString()).toMatch(/^SPOOL_FULL/);
    // what stays in memory is not touched by it
    expect((await post(front.url, message(freshId()))).status).toBe(200);
    working.open();
    expect((await first).status).toBe(200);
    expect(refersTo((await post(front.url, large(refused))).body)).toBe(refused);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('first');
    await front.metricIs('as4_once_spool_disk_bytes', 0);
  });
});
