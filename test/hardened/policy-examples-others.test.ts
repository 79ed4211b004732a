import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { honest } from '../endpoint/served.js';
import { freshId, gate, refersTo } from '../front/messages.js';
import { ROOT, runCli } from '../support/child.js';
import { after, plain } from '../support/scripted-answers.js';
import { tempDir } from '../support/temp-dir.js';
import {
  closeExamples,
  exampleText,
  examplesOf,
  isAs4Front,
  keys,
  runExample,
  type Sendable,
} from './example-front.js';

/** The files of examples/policy that are not about AS4 through the front, at work; see policy-examples.test.ts. */
afterEach(closeExamples);

/** Older than its window it would be late. */
const TODAY = new Date().toISOString().slice(2, 10).replaceAll('-', '');
const ISA = readFileSync(join(ROOT, 'examples', 'x12', 'order-905.x12'), 'latin1');
interface Interchange {
  from?: string;
  to?: string;
  at?: string;
  content?: string;
  count?: string;
}
/** An interchange of the partner the examples name; all with one control number. */
const x12 = ({
  from = 'PARTNERID',
  to = '012345678',
  at = '0900',
  content = 'PO905',
  count = '3',
}: Interchange = {}): Sendable => ({
  body: Buffer.from(
    ISA.replace(
      /BUYER          \*01\*012345678      \*260105\*0900/,
      `${from.padEnd(15)}*01*${to.padEnd(15)}*${TODAY}*${at}`,
    )
      .replace('PO905**', `${content}**`)
      .replace('SE*3*', `SE*${count}*`),
    'latin1',
  ),
  headers: { 'content-type': 'application/edi-x12' },
});
type Edi = readonly (readonly [word: string, what?: Interchange])[];
const X12: Readonly<Record<string, Edi>> = {
  'checks-strict': [['400 EDI_BROKEN', { count: '9' }], ['first'], ['replay']],
  'checks-warn': [
    ['first', { count: '9' }],
    ['replay', { count: '9' }],
  ],
  'key-reference-sender-recipient': [
    ['first'],
    ['first', { from: 'B' }],
    ['first', { to: 'C' }],
    ['replay'],
    ['422 MISMATCH', { content: 'X' }],
  ],
  'key-reference-datetime': [['first'], ['first', { at: '0901' }], ['replay'], ['422 MISMATCH', { to: 'C' }]],
  'key-reference-content-datetime': [['first'], ['first', { content: 'X' }], ['first', { at: '0901' }], ['replay']],
  'key-reference-sender-datetime': [
    ['first'],
    ['first', { at: '0901' }],
    ['replay'],
    ['422 MISMATCH', { content: 'X' }],
  ],
  'key-reference-sender-content-datetime': [
    ['first'],
    ['first', { content: 'X' }],
    ['first', { at: '0901' }],
    ['replay'],
  ],
  'key-reference-sender-recipient-content': [
    ['first'],
    ['first', { content: 'X' }],
    ['first', { to: 'C' }],
    ['replay'],
  ],
  'key-reference-sender-recipient-datetime': [['first'], ['first', { at: '0901' }], ['first', { to: 'C' }], ['replay']],
  'key-reference-sender-recipient-content-datetime': [
    ['first'],
    ['first', { at: '0901' }],
    ['first', { content: 'X' }],
    ['first', { to: 'C' }],
    ['replay'],
  ],
};

describe('X12', () => {
  it.each(Object.keys(X12))('%s', async (name) => {
    const example = await runExample(name, { answers: plain(200, 'text/plain', 'taken') });
    for (const [n, [word, what]] of X12[name]!.entries()) expect([n, await example.says(x12(what))]).toEqual([n, word]);
  });
});

describe('any reference', () => {
  const order = (key: string): Sendable => ({ body: Buffer.from('{"order":1}'), headers: { 'idempotency-key': key } });
  it('accept: 409 is as good as 200', async () => {
    const example = await runExample('accept', { answers: plain(409, 'text/plain', 'known') });
    expect([await example.says(order('k')), await example.says(order('k'))]).toEqual(['first 409', 'replay 409']);
  });

  it.each([
    ['in-flight-409', '409 IN_PROGRESS'],
    ['in-flight-503', '503 IN_PROGRESS'],
  ])('%s', async (name, word) => {
    const example = await runExample(name, { fast: 50 });
    const working = gate();
    example.upstream.next(after(working.opened, plain(200, 'text/plain', 'taken')));
    const first = example.post(order('k'));
    await example.upstream.arrived(1);
    expect(await example.says(order('k'))).toBe(word);
    working.open();
    await first;
  });

  it('reply-headers: the MDN comes again with the fields that belong to it', async () => {
    const fields = {
      'AS2-From': 'SELLER',
      'AS2-To': 'BUYER',
      'AS2-Version': '1.1',
      'Message-ID': '<mdn@seller>',
      'X-Else': 'no',
    };
    const example = await runExample('reply-headers', {
      answers: plain(200, 'multipart/report; boundary=x', 'mdn', fields),
    });
    const headers = { 'message-id': '<1@buyer>', 'as2-from': 'BUYER', 'as2-to': 'SELLER' };
    const sent = { body: Buffer.from('order'), headers };
    await example.post(sent);
    const copy = await example.post(sent);
    expect(copy.headers).toMatchObject({
      'as4-once-answer': 'replay',
      'as2-from': 'SELLER',
      'message-id': '<mdn@seller>',
    });
    expect(copy.headers['x-else']).toBeUndefined();
  });
});

const ENDPOINT = ['edifact', 'sbdh', 'ubl', 'x12']
  .map((kind) => `payload-keys-${kind}`)
  .concat(['flag', 'off', 'suppress'].map((value) => `sbdh-${value}`));
describe('role endpoint (what each value does: test/endpoint)', () => {
  it.each(ENDPOINT)('%s: a message is delivered once, and its copy has the same Receipt', async (name) => {
    const example = await runExample(name, { prepare: keys });
    const messageId = freshId();
    const first = await example.post(honest({ messageId }));
    expect([first.status, refersTo(first.body)]).toEqual([200, messageId]);
    expect((await example.post(honest({ messageId }))).body.equals(first.body)).toBe(true);
    expect(readdirSync(join(example.folder, 'deliveries')).filter((file) => !file.startsWith('.'))).toHaveLength(1);
  });
});

const WATCH = ['ack-none', 'ack-replay', 'mixed-cut', 'mixed-hold', 'mixed-split'];
describe('watched folders (what each value does: test/watch)', () => {
  it.each(WATCH)('%s: a first copy goes out, its repetition does not', async (name) => {
    const folder = tempDir('policy-watch');
    for (const made of ['in', 'out', 'acks', 'ack-out']) mkdirSync(join(folder.path, 'edi', made), { recursive: true });
    const file = join(folder.path, 'edi.yaml');
    writeFileSync(
      file,
      exampleText(name)
        .replaceAll('../../demo-data', '.')
        .replace(/^( +)in:.*$/m, '$&\n$1stable: 1ms'),
    );
    for (const copy of ['one.edi', 'two.edi']) {
      copyFileSync(join(ROOT, 'examples', 'watch', 'samples', 'orders-4711.edi'), join(folder.path, 'edi', 'in', copy));
      expect((await runCli(['watch', '--once', '--config', file], { cwd: folder.path })).code).toBe(0);
    }
    expect(readdirSync(join(folder.path, 'edi', 'out')).filter((out) => out.endsWith('.edi'))).toEqual(['one.edi']);
    folder.remove();
  });
});

it('no other example is left out', () => {
  const said = ['accept', 'in-flight-409', 'in-flight-503', 'reply-headers'];
  const shown = [...Object.keys(X12), ...ENDPOINT, ...WATCH, ...said].map((name) => `${name}.yaml`);
  expect(shown.toSorted()).toEqual(examplesOf((config) => !isAs4Front(config)));
});
