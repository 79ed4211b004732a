import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PEPPOL } from '../../conformance/as4/names.js';
import type { Ledger, LedgerRecord } from '../../src/ledger/port.js';
import type { MessageChoices } from '../support/messages.js';
import { after, hang, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { ENGINES, startEngine, type Engine } from '../front/engines.js';
import {
  eventually,
  startFront,
  startFrontFrom,
  stopFronts,
  writeSettings,
  type Front,
  type Settings,
} from '../front/front-process.js';
import { errorCodes, freshId, gate, message, post, signedMessage } from '../front/messages.js';
import { rawClient } from '../front/raw-http.js';

/** Puts another file in force and waits until the front says what became of it. */
async function reload(front: Front, change: () => void): Promise<Readonly<Record<string, unknown>>> {
  const before = front.log().filter((line) => line.event === 'reload').length;
  change();
  front.process.signal('SIGHUP');
  return await front.logged({ event: 'reload' }, before + 1);
}

describe('a rule is found by', () => {
  const C1 = '0088:7300010000001';
  const CRITERIA: readonly (readonly [criterion: string, value: string, choices: MessageChoices])[] = [
    ['from', 'SENDER', { from: 'SENDER' }],
    ['to', 'RECEIVER', { to: 'RECEIVER' }],
    ['service', 'urn:services:orders', { service: 'urn:services:orders' }],
    ['action', 'Order', { action: 'Order' }],
    [
      'documentType',
      PEPPOL.documentType.replace('Invoice', 'Order'),
      { action: `busdox-docid-qns::${PEPPOL.documentType.replace('Invoice', 'Order')}` },
    ],
    ['c1', C1.toUpperCase(), { c1: C1 }],
    ['c4', '9915:receiver', { c4: '9915:RECEIVER' }],
    ['agreement', 'urn:agreements:ours', { agreement: 'urn:agreements:ours' }],
    [
      'mpc',
      'urn:mpc:urgent',
      { plan: { tamper: (xml) => xml.replace(/UserMessage>/, 'UserMessage mpc="urn:mpc:urgent">') } },
    ],
  ];
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    front = await startFront({
      upstream: upstream.url,
      ...engine.settings,
      // one message could fit two rules of one criterion each, and such a file is refused: a route for each
      routes: [
        ...CRITERIA.map(([criterion, value]) => ({
          path: `/${criterion}`,
          upstream: upstream.url,
          partners: [{ name: `by ${criterion}`, match: { [criterion]: value } }],
        })),
        {
          path: '/several',
          upstream: upstream.url,
          partners: [
            { name: 'from one', match: { from: ['ONE', 'ELEVEN'] } },
            { name: 'to two', match: { to: 'TWO' } },
            { name: 'from one to two', match: { from: ['ONE', 'ELEVEN'], to: 'TWO' } },
          ],
        },
      ],
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });
  const ruleOf = async (path: string, choices: MessageChoices): Promise<unknown> => {
    const id = freshId();
    expect((await post(new URL(path, front.url).href, signedMessage(id, choices))).status).toBe(200);
    return (await front.logged({ event: 'exchange', messageId: id }))['rule'];
  };

  it.each(CRITERIA)('%s', async (criterion, _value, choices) => {
    expect(await ruleOf(`/${criterion}`, choices)).toBe(`by ${criterion}`);
    expect(await ruleOf(`/${criterion}`, {})).toBe('defaults');
  });

  it('the most criteria that fit, and the defaults where none fits', async () => {
    expect(await ruleOf('/several', { from: 'ONE', to: 'TWO' })).toBe('from one to two');
    expect(await ruleOf('/several', { from: 'ONE', to: 'THREE' })).toBe('from one');
    expect(await ruleOf('/several', { from: 'FOUR', to: 'TWO' })).toBe('to two');
    expect(await ruleOf('/several', {})).toBe('defaults');
  });
});

describe('SIGHUP', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let settings: Settings;
  beforeEach(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    settings = { upstream: upstream.url, ...engine.settings };
  });
  afterEach(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('under load drops no request, and what is in progress keeps the rules and the access point it came by', async () => {
    const front = await startFront({
      ...settings,
      partners: [{ match: { from: 'OLD' }, name: 'old', mismatch: 'replay' }],
    });
    const elsewhere = await startUpstream(receipt());
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const slowId = freshId();
    const slow = post(front.url, signedMessage(slowId, { from: 'OLD' }));
    await upstream.arrived(1);
    const waiting = post(front.url, signedMessage(slowId, { from: 'OLD', payloads: ['other'] }));
    await front.metricIs('as4_once_waiting', 1);

    const load = { on: true };
    const answers: number[] = [];
    const senders = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (load.on) answers.push((await post(front.url, message(freshId()))).status);
      }),
    );
    for (let round = 0; round < 6; round += 1) {
      const goal = answers.length + 20;
      const told = await reload(front, () =>
        writeSettings(front.configFile, {
          ...settings,
          upstream: round % 2 === 0 ? elsewhere.url : upstream.url,
          partners: [{ match: { from: 'OLD' }, name: `new ${round}`, mismatch: 'refuse' }],
        }),
      );
      expect(told['level']).toBe(30);
      await eventually(
        () => (answers.length >= goal ? true : undefined),
        () => 'more answers',
      );
    }
    load.on = false;
    await senders;
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(elsewhere.requests.length).toBeGreaterThan(0);

    working.open();
    const first = await slow;
    expect(first.status).toBe(200);
    // it came while the rule said replay
    expect((await waiting).body.equals(first.body)).toBe(true);
    // and this one comes after
    expect(
      errorCodes((await post(front.url, signedMessage(slowId, { from: 'OLD', payloads: ['other'] }))).body),
    ).toEqual(['EBMS:0003']);
    expect(upstream.requests.length + elsewhere.requests.length).toBe(answers.length + 1);
    await elsewhere.close();
  });

  /** A SIGHUP right after the line that says where it listens ended the process: nobody heard signals yet. */
  it('a bad file leaves the old one in force and says where it is wrong', async () => {
    const front = await startFront({ ...settings, partners: [{ match: { from: 'OLD' }, name: 'the old rule' }] });
    const good = readFileSync(front.configFile, 'utf8');
    const lines = good.split('\n').length;
    for (const [bad, where] of [
      [`${good}defaults:\n  mode: eliminte\n`, `front.yaml:${lines + 1}:`],
      [`${good}  - [\n`, 'front.yaml:'],
      [`${good}tls: { certificate: /nowhere.pem, key: /nowhere.pem }\n`, '/nowhere.pem'],
    ] as const) {
      const told = await reload(front, () => writeFileSync(front.configFile, bad));
      expect(told['level']).toBe(50);
      expect(String(told['error'])).toContain(where);
      const id = freshId();
      expect((await post(front.url, signedMessage(id, { from: 'OLD' }))).status).toBe(200);
      expect(await front.logged({ event: 'exchange', messageId: id })).toMatchObject({ rule: 'the old rule' });
    }
  });

  /** A changed limit was called reloaded, and was not in force until somebody happened to restart the process. */
  it('what takes a restart is named as long as it does, and the rest is in force', async () => {
    const front = await startFront({ ...settings, limits: { maxBody: '64 KiB' } });
    const next = { ...settings, limits: { maxBody: '1 KiB' }, healthPath: '/up', times: { shutdownGrace: '1s' } };
    const partners = [{ match: { from: 'NEW' }, name: 'the new rule' }];
    const put = (value: Settings) => reload(front, () => writeSettings(front.configFile, value));
    expect(await put({ ...next, partners })).toMatchObject({ level: 40, restart: ['healthPath', 'limits'] });
    expect(await put({ ...next, partners })).toMatchObject({ level: 40, restart: ['healthPath', 'limits'] });
    const id = freshId();
    expect((await post(front.url, signedMessage(id, { from: 'NEW' }))).status).toBe(200);
    expect(await front.logged({ event: 'exchange', messageId: id })).toMatchObject({ rule: 'the new rule' });
    const same = { ...settings, limits: { maxBody: '64 KiB' }, times: { shutdownGrace: '300ms' } };
    expect(await put(same)).toMatchObject({ level: 30 });
    upstream.next(hang());
    const cut = post(front.url, message(freshId())).catch(() => 'cut');
    await upstream.arrived(2);
    front.process.signal('SIGTERM');
    expect([await cut, (await front.process.ended).code]).toEqual(['cut', 0]);
  });

  it('values come from ${ENV} and …File:, and are printed nowhere', async () => {
    const folder = tempDir('secrets');
    const canary = 'canary-8f1c55';
    writeFileSync(`${folder.path}/token`, `${canary}-token\n`);
    const front = await startFront(
      {
        ...settings,
        upstream: '${UPSTREAM}',
        admin: { listen: '127.0.0.1:0', tokenFile: `${folder.path}/token` },
        defaults: { window: '${WINDOW:-30d}' },
        partners: [{ name: 'x', match: { from: '${PARTNER}' } }],
      },
      { UPSTREAM: upstream.url, PARTNER: `${canary}-partner` },
    );
    await post(front.url, message(freshId()));
    expect(
      (await fetch(`${front.admin}/api/status`, { headers: { authorization: `Bearer ${canary}-token` } })).status,
    ).toBe(200);
    await reload(front, () => appendFileSync(front.configFile, 'nonsense: "${PARTNER}"\n'));
    const status = await fetch(`${front.admin}/api/status`, { headers: { authorization: `Bearer ${canary}-token` } });
    const shown = [
      front.process.stdout(),
      front.process.stderr(),
      await status.text(),
      await (await fetch(`${front.admin}/metrics`)).text(),
    ].join('\n');
    expect(shown).toContain('nonsense');
    expect(shown).not.toContain(`${canary}-token`);
    expect(shown).not.toContain(`${canary}-partner`);
    folder.remove();
  });

  /** The old key spoke for every message of its reference, so that another sender's message got that sender's mismatch. */
  it("a new key with previousKey: what was accepted under the old one is replayed, and nobody else's message is taken for it", async () => {
    const front = await startFront({ ...settings, defaults: { key: 'reference' } });
    const id = freshId();
    const first = await post(front.url, signedMessage(id, { from: 'A' }));
    await reload(front, () =>
      writeSettings(front.configFile, { ...settings, defaults: { key: 'reference+sender', previousKey: 'reference' } }),
    );
    const copy = await post(front.url, signedMessage(id, { from: 'A' }));
    expect(copy.headers['as4-once-answer']).toBe('replay');
    expect(copy.body.equals(first.body)).toBe(true);
    const another = await post(front.url, signedMessage(id, { from: 'B' }));
    expect([another.status, another.headers['as4-once-answer']]).toEqual([200, undefined]);
    const again = await post(front.url, signedMessage(id, { from: 'B' }));
    expect(again.body.equals(another.body)).toBe(true);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe.each(ENGINES.slice(0, 2))('a raised window reaches the records that stand: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let ledger: Ledger;
  afterEach(async () => {
    await stopFronts();
    await ledger.close();
    await upstream.close();
    await engine.close();
  });

  it('in the background, at a reload and at a start, those of the partner and no others, and their second keys', async () => {
    engine = await startEngine(engineName);
    ledger = await engine.open();
    upstream = await startUpstream(receipt());
    const settings = (window: string, late: string, wide: string): Settings => ({
      upstream: upstream.url,
      ...engine.settings,
      node: 'one',
      times: { answerBy: '2s', wait: '1s', patience: '10s', lease: '500ms' },
      defaults: { window: '30d' },
      partners: [
        { match: { from: 'RAISED' }, window, late },
        { match: { from: 'WIDE' }, window: wide },
      ],
    });
    let front = await startFront(settings('1h', '0s', '90d'));
    const ids = { raised: freshId(), wide: freshId(), other: freshId() };
    await post(front.url, signedMessage(ids.raised, { from: 'RAISED' }));
    await post(front.url, signedMessage(ids.wide, { from: 'WIDE' }));
    await post(front.url, signedMessage(ids.other, { from: 'OTHER' }));
    await reload(front, () => writeSettings(front.configFile, settings('60d', '1d', '10d')));
    const DAY = 86_400_000;
    await spans(ledger, { [ids.raised]: [60 * DAY, DAY], [ids.wide]: [90 * DAY, 0], [ids.other]: [30 * DAY, 0] });
    expect(await front.logged({ event: 'windowsRaised' })).toMatchObject({ records: 2 });
    const pointers = (await all(ledger))
      .filter(({ pointer }) => pointer !== undefined)
      .map(({ window }) => window / DAY);
    expect(pointers.toSorted((a, b) => a - b)).toEqual([30, 60, 90]);
    await front.stop();

    writeSettings(front.configFile, settings('100d', '1d', '100d'));
    front = await startFrontFrom(front.configFile);
    await spans(ledger, { [ids.raised]: [100 * DAY, DAY], [ids.wide]: [100 * DAY, 0], [ids.other]: [30 * DAY, 0] });
    await front.stop();
    // and what was done is not done again: a start after that looks at nothing
    front = await startFrontFrom(front.configFile);
    const id = freshId();
    expect((await post(front.url, signedMessage(id, { from: 'RAISED' }))).status).toBe(200);
    expect(front.log().filter((line) => line.event === 'windowsRaised')).toEqual([]);
  });
});

/**
 * A body that came so slowly that it was under way for longer than times.answerBy when the window was raised made its
 * record by the old window behind both walks, and was forgotten long before policy said so: the copy was delivered again.
 */
describe('a raised window and a message that is still on its way in', () => {
  afterEach(stopFronts);

  it('is raised too, when it has come, also where another SIGHUP came meanwhile', async () => {
    const engine = await startEngine('embedded');
    const ledger = await engine.open();
    const upstream = await startUpstream(receipt());
    const settings = (window: string): Settings => ({
      upstream: upstream.url,
      ...engine.settings,
      times: { answerBy: '1s', wait: '500ms', patience: '5s', lease: '300ms' },
      defaults: { window },
    });
    const front = await startFront(settings('1h'));
    const id = freshId();
    const built = signedMessage(id);
    const slow = await rawClient(front.port);
    slow.write(
      `POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${built.headers['content-type']}\r\n` +
        `Content-Length: ${built.body.length}\r\n\r\n`,
    );
    slow.write(built.body.subarray(0, 2_000));
    await post(front.url, message(freshId()));
    await reload(front, () => writeSettings(front.configFile, settings('60d')));
    // one that came by the old rules too is raised by the second walk, which is then over
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await reload(front, () => undefined);
    slow.write(built.body.subarray(2_000));
    await slow.sees(/Receipt[\s\S]*Envelope>/);
    slow.socket.destroy();
    await spans(ledger, { [id]: [60 * 86_400_000, 0] });
    await stopFronts();
    await ledger.close();
    await upstream.close();
    await engine.close();
  });
});

async function all(ledger: Ledger): Promise<LedgerRecord[]> {
  const found = new Map<string, LedgerRecord>();
  for await (const { record } of ledger.iterate()) found.set(record.key, record);
  return [...found.values()];
}

/** Waits until each record has that window and lateness. */
async function spans(
  ledger: Ledger,
  wanted: Readonly<Record<string, readonly [window: number, late: number]>>,
): Promise<void> {
  let last = '';
  await eventually(
    async () => {
      const records = (await all(ledger)).filter(({ reference }) => wanted[reference] !== undefined);
      last = JSON.stringify(records.map(({ reference, window, late }) => [reference, window, late]));
      return records.every(
        ({ reference, window, late }) => wanted[reference]![0] === window && wanted[reference]![1] === late,
      )
        ? true
        : undefined;
    },
    () => `the windows to be raised: ${last}`,
  );
}
