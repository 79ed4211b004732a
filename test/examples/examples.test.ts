import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operator } from '../operate/operator.js';
import { ROOT } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';
import { runExample, type ExampleRun } from './readme-run.js';

/** Each example as its README says, in child processes: what its reader would see. */
let ran: ExampleRun | undefined;
const run = async (name: string): Promise<ExampleRun> => {
  ran = await runExample(name);
  expect(ran.code, ran.out).toBe(0);
  return ran;
};
afterEach(() => {
  ran?.remove();
  ran = undefined;
});

describe.skipIf(!existsSync(join(ROOT, 'dist/src/cli/main.js')))('examples, as their README says (skipped where nothing is built: node scripts/prepare.mjs)', () => {
  it.each([
    ['edifact', /^UNB\+UNOC:3\+SELLER:14\+BUYER:14\+\d{6}:\d{4}\+C1'.*UCI\+4711\+BUYER:14\+SELLER:14\+7'/],
    ['x12', /^ISA\*.*TA1\*000000905\*260105\*0900\*A\*000~/],
  ])('%s: the same acknowledgement twice, a reused number refused with a question, one delivery', async (name, acknowledgement) => {
    const { read, names, out } = await run(name);
    expect(read('answer-1')).toMatch(acknowledgement);
    expect(read('answer-2')).toBe(read('answer-1'));
    expect(out).toMatch(/^422$/m);
    expect(read('answer-3')).toMatch(/^MISMATCH: control number reused, first seen \d{4}-\d\d-\d\dT.*; did the partner reset its counter\?$/m);
    expect(names('delivered')).toEqual(['1.message']);
  });

  it('as2: the lost MDN comes again with its own Message-ID; another AS2-From is another message', async () => {
    const { read, names } = await run('as2');
    expect(read('answer-2')).toBe(read('answer-1'));
    expect(read('answer-2')).toContain('Original-Message-ID: <4711@buyer.example>');
    for (const line of [/^message-id: <mdn-1@receiver\.example>\r$/im, /^as2-from: SELLER\r$/im, /^as2-to: BUYER\r$/im, /^content-type: multipart\/report; .*boundary="mdn-1"\r$/im]) {
      expect(read('headers-1')).toMatch(line);
      expect(read('headers-2')).toMatch(line);
    }
    expect(read('headers-1')).not.toMatch(/as4-once-answer/i);
    expect(read('headers-2')).toMatch(/^as4-once-answer: replay\r$/im);
    expect(read('answer-3')).toContain('mdn-2');
    expect(names('delivered')).toEqual(['1.message', '2.message']);
  });

  it('webhook: an event once, in either mode; what has no id goes on', async () => {
    const { read, names, out } = await run('webhook');
    expect(read('answer-2')).toBe(read('answer-1'));
    expect(JSON.parse(read('answer-1'))).toMatchObject({ number: 1, idempotencyKey: expect.stringMatching(/^"[0-9a-f]{64}"$/) });
    expect(out).toMatch(/^422$/m);
    expect(read('answer-3')).toMatch(/^MISMATCH: first seen /);
    expect(names('delivered')).toEqual(['1.message', '2.message']);
  });

  it('idempotency-api: the first answer again, another payment under the key 422, no key 400', async () => {
    const { read, names, out } = await run('idempotency-api');
    expect(read('answer-2')).toBe(read('answer-1'));
    for (const status of [/^422$/m, /^400$/m]) expect(out).toMatch(status);
    expect(read('answer-3')).toMatch(/^MISMATCH: first seen /);
    expect(read('answer-4')).toMatch(/^REFERENCE_MISSING: /);
    expect(names('delivered')).toEqual(['1.message']);
  });

  it('business-central: a document once for (External Reference, Type)', async () => {
    const { read, names } = await run('business-central');
    expect(read('answer-2')).toBe(read('answer-1'));
    expect(JSON.parse(read('answer-3'))).toMatchObject({ number: 2 });
    expect(names('delivered')).toEqual(['1.message', '2.message']);
  });

  it('watch: first copies, acknowledgements, repetitions, a cut file, a reused number', async () => {
    const { read, names, out } = await run('watch');
    expect(names('drop/out')).toEqual(['again-4712.edi', 'counter-reset.edi', 'two.edi']);
    expect(read('drop/out/two.edi')).toMatch(/^UNB\+.*\+4713'.*UNZ\+1\+4713'\r\n$/);
    expect(names('drop/ackOut')).toEqual(['contrl-4711.edi', 'contrl-4711~2.edi']);
    expect(read('drop/ackOut/contrl-4711.edi')).toBe(read('samples/contrl-4711.edi'));
    expect(names('drop/duplicates')).toEqual(expect.arrayContaining(['again-4711.edi', 'two.edi']));
    expect(out).toMatch(/"why": ?"control number reused, first seen .*; did the partner reset its counter\?"/);
    expect(out).toMatch(/"code": ?"EDI_BROKEN"/);
    expect(names('drop/in')).toEqual([]);
  });

  it('claim: a pipeline of one\'s own books once and sends the lost acknowledgement again', async () => {
    const { read, names, out } = await run('claim');
    expect(out).toMatch(/first copy: booked\n(.*\n)*duplicate\n/);
    expect(out).toMatch(/control number reused, first seen .*; did the partner reset its counter\?/);
    expect(names('booked')).toHaveLength(1);
    expect(names('sent')).toEqual(['orders-4711.edi.contrl']);
    expect(read('sent/orders-4711.edi.contrl')).toBe(read('contrl-4711.edi'));
  });

  it('endpoint: booked once, though the application died over the first copy; then one Receipt for every copy', async () => {
    const { read, names, out } = await run('endpoint');
    expect(read('answers/answer-1')).toMatch(/^UPSTREAM_UNCLEAR: /);
    expect(read('answers/answer-2')).toContain('NonRepudiationInformation');
    expect(read('answers/answer-3')).toBe(read('answers/answer-2'));
    expect(out).toMatch(/^first: booked \((.*)\)$(.*\n)*^redelivery: booked before \(\1\)$/m);
    expect(names('booked')).toHaveLength(1);
    expect(out).toMatch(/copy 2: HTTP 200, Receipt .*, signature valid/);
  });

  it('once: booked, booked before, refused; an Express route runs once', async () => {
    const { read, out } = await run('once');
    const [, number] = /^copy 1: booked as (B-[0-9a-f]{8})$/m.exec(out) ?? [];
    expect(out).toContain(`copy 2: booked before as ${number}\ncopy 3: refused: other content, first seen 2`);
    expect(read('answer-2')).toBe(read('answer-1'));
    expect(JSON.parse(read('answer-1'))).toEqual({ number: 1 });
    expect(out).toMatch(/^422$/m);
  });
});

/**
 * examples/README.md said that every file runs as it stands, and the tests loaded each; but `check`, the very command that
 * the page printed, reads keys too, and those that the endpoint's examples name were made by nobody.
 */
describe('every configuration of the examples, by the command that its page prints', () => {
  const place = tempDir('examples-checked');
  const cli = operator('');
  const files = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml') && !/(^|\/)(data|drop)\//.test(path)).map((path) => `examples/${path}`).toSorted();
  /** Types a command in the folder that holds `examples`. */
  const typed = async (command: string) =>
    await cli(...command.split(' ').slice(1).map((word) => (/^(examples|demo-data)\//.test(word) ? join(place.path, word) : word)));
  const keysCommand = /^as4-once init .*$/m.exec(readFileSync(join(ROOT, 'examples/README.md'), 'utf8'))?.[0] ?? '';

  beforeAll(async () => {
    for (const path of files) cpSync(join(ROOT, path), join(place.path, path));
    const without = await typed('as4-once check --config examples/policy/sbdh-suppress.yaml');
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('endpoint.crt cannot be read') as string });
    expect(await typed(keysCommand)).toMatchObject({ code: 0, stderr: '' });
  });
  afterAll(() => place.remove());

  it.each(files)('%s', async (path) => {
    const [, printed] = /^# (as4-once check .*)$/m.exec(readFileSync(join(ROOT, path), 'utf8')) ?? [];
    const command = printed ?? `as4-once check --config ${path}`;
    expect(command).toContain(path);
    expect(await typed(command)).toMatchObject({ code: 0, stderr: '' });
  });
});
