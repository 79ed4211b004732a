import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readXml } from '../../conformance/as4/xml.js';
import { compareCommand } from '../../conformance/compare.js';
import { EXIT, Usage } from '../../conformance/exit.js';
import { listCommand } from '../../conformance/list.js';
import { reportJsonSchema, reportSchema } from '../../conformance/report/schema.js';
import type { Report } from '../../conformance/report/schema.js';
import { runCommandLine } from '../../conformance/run.js';
import { sendCommand } from '../../conformance/send.js';
import { MakesNewReceipts } from './receivers/broken/makes-new-receipts.js';
import { GoodReceiver } from './receivers/good.js';
import { makeCast } from './receivers/target.js';

const cast = makeCast();
let folder = '';
const receivers: GoodReceiver[] = [];
const servers: Server[] = [];
const sockets: Socket[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'as4-once-commands-'));
  writeFileSync(join(folder, 'sender.key'), cast.sender.keyPem);
  writeFileSync(join(folder, 'sender.crt'), cast.sender.certificatePem);
  writeFileSync(join(folder, 'receiver.crt'), cast.receiver.certificatePem);
  writeFileSync(join(folder, 'invoice.xml'), '<invoice>1</invoice>');
});

afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function receiver(Kind: typeof GoodReceiver = GoodReceiver): Promise<URL> {
  const made = new Kind({
    identity: cast.receiver,
    trusted: [cast.sender.certificate.raw],
    requireSignature: false,
    backend: undefined,
  });
  receivers.push(made);
  return await made.listen();
}

function captured(): { text: string; write: (text: string) => void } {
  const out = { text: '', write: (text: string) => void (out.text += text) };
  return out;
}

/** A target file for a receiver at `url`, with short times. */
function targetFile(url: URL, name = 'receiver', answer = '20s'): string {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(
    path,
    `name: ${name}
version: "1"
url: ${url.href}
profile: custom
parties: { from: { id: sender }, to: { id: receiver } }
keys: { sign: { key: sender.key, cert: sender.crt } }
times: { answer: ${answer}, quiet: 10ms, deliver: 100ms }
claims: { duplicate: identical }
`,
  );
  return path;
}

const REPLAY = 'as4/5.1.8/1,as4/5.1.8/2,once/replay,soap12/5';

describe('run', () => {
  test('a receiver that keeps its claims: exit 0, and every form of the report', async () => {
    const out = captured();
    const directory = join(folder, 'good');
    expect(
      await runCommandLine(['--target', targetFile(await receiver()), '--only', REPLAY, '--out', directory], out),
    ).toBe(EXIT.ok);
    expect(out.text).toMatch(/result: meets what is asked of it/);
    expect(readdirSync(directory).toSorted()).toEqual([
      'badge.json',
      'junit.xml',
      'report.html',
      'report.json',
      'report.md',
    ]);
    const report = JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8')) as Report;
    expect(() => reportSchema.parse(report)).not.toThrow();
    expect(report.results.find(({ id }) => id === 'once/replay/2')).toMatchObject({
      verdict: 'pass',
      level: 'observe',
      judgedAs: 'must',
    });
    expect(report.results.find(({ id }) => id === 'once/replay/4')).toMatchObject({ verdict: 'skipped' });
    expect(JSON.parse(readFileSync(join(directory, 'badge.json'), 'utf8'))).toMatchObject({
      schemaVersion: 1,
      color: 'brightgreen',
    });
  });

  test('a receiver that breaks a claim: exit 1, named in every form with what it answered', async () => {
    const out = captured();
    const directory = join(folder, 'bad');
    expect(
      await runCommandLine(
        [
          '--target',
          targetFile(await receiver(MakesNewReceipts), 'new <receipts> & | more'.replaceAll(/\W+/g, '-')),
          '--only',
          REPLAY,
          '--out',
          directory,
        ],
        out,
      ),
    ).toBe(EXIT.failed);
    expect(out.text).toContain('fail     once/replay/2');
    const read = (name: string) => readFileSync(join(directory, name), 'utf8');
    const junit = readXml(read('junit.xml'));
    expect(JSON.stringify(junit)).toContain('"failure"');
    for (const name of ['report.md', 'report.html']) expect(read(name)).toMatch(/has other bytes/);
    expect(JSON.parse(read('badge.json'))).toMatchObject({ color: 'red' });
    const result = (JSON.parse(read('report.json')) as Report).results.find(({ id }) => id === 'once/replay/2');
    expect(result?.exchanges.at(-1)?.answer.body).toContain('Receipt');
    expect(result?.exchanges.at(-1)?.request.envelope).toContain('UserMessage');
  });

  test('known failures: expected ones do not fail the run, one that passes does', async () => {
    const expected = join(folder, 'expected.yaml');
    writeFileSync(
      expected,
      '- { id: once/replay/2, verdict: fail, reason: signs anew }\n- { id: once/replay/3, verdict: blocked, ' +
      'reason: follows }\n',
    );
    const bad = targetFile(await receiver(MakesNewReceipts), 'known');
    expect(await runCommandLine(['--target', bad, '--only', REPLAY, '--expected', expected], captured())).toBe(EXIT.ok);
    const out = captured();
    expect(
      await runCommandLine(
        ['--target', targetFile(await receiver(), 'passes'), '--only', REPLAY, '--expected', expected],
        out,
      ),
    ).toBe(EXIT.failed);
    expect(out.text).toMatch(/unexpected once\/replay\/2: pass, expected fail: signs anew/);
  });

  test('expected.yaml: an unknown id, a missing reason, an id twice are refused with file and line', async () => {
    const target = targetFile(new URL('http://127.0.0.1:1/'), 'any');
    const expected = join(folder, 'wrong.yaml');
    const run = () => runCommandLine(['--target', target, '--expected', expected], captured());
    writeFileSync(
      expected,
      '- { id: as4/3.2/1, verdict: fail, reason: x }\n- { id: none/1/1, verdict: fail, reason: x }\n',
    );
    await expect(run()).rejects.toThrow(/wrong\.yaml:2: no requirement none\/1\/1/);
    writeFileSync(expected, '- { id: as4/3.2/1, verdict: fail }\n');
    await expect(run()).rejects.toThrow(/wrong\.yaml:1: 0\.reason/);
    writeFileSync(
      expected,
      '- { id: as4/3.2/1, verdict: fail, reason: x }\n- { id: as4/3.2/1, verdict: fail, reason: x }\n',
    );
    await expect(run()).rejects.toThrow(/wrong\.yaml:2: as4\/3\.2\/1 a second time/);
  });

  test('--json prints a report and nothing else', async () => {
    const out = captured();
    await runCommandLine(['--target', targetFile(await receiver(), 'json'), '--only', 'as4/5.1.8/1', '--json'], out);
    expect(reportSchema.parse(JSON.parse(out.text)).totals.pass).toBe(1);
  });

  test('wrong options are refused', async () => {
    await expect(runCommandLine([], captured())).rejects.toThrow(Usage);
    await expect(
      runCommandLine(['--target', targetFile(await receiver(), 'o'), '--jobs', '0'], captured()),
    ).rejects.toThrow(Usage);
    await expect(
      runCommandLine(['--target', targetFile(await receiver(), 'o'), '--only', 'as4/99'], captured()),
    ).rejects.toThrow(/no requirement as4\/99/);
  });
});

describe('targets that cannot be judged', () => {
  const hostile = async (act: (socket: Socket) => void): Promise<URL> => {
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.resume();
      act(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`);
  };

  // Whatever a target does, the run ends in bounded time with a clear line, and what does not depend on it goes on.
  test.each<[string, () => Promise<URL>, RegExp]>([
    [
      'absent',
      async () => new URL('http://127.0.0.1:1/as4'),
      /no answer \(refused: no connection to 127\.0\.0\.1:1: ECONNREFUSED\)/,
    ],
    ['silent', () => hostile(() => undefined), /no answer \(timeout: no complete answer within 500 ms/],
    ['closing', () => hostile((socket) => socket.end()), /no answer \((closed|reset):/],
    ['garbage', () => hostile((socket) => socket.end(Buffer.alloc(2_000, 0x9b))), /no answer \(garbled: not HTTP/],
    [
      'hostile text',
      () =>
        hostile((socket) =>
          socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>\u001b[2J|'),
        ),
      /HTTP 200, text\/html/,
    ],
  ])('%s', async (name, start, line) => {
    const out = captured();
    const directory = join(folder, name.replace(' ', '-'));
    const code = await runCommandLine(
      [
        '--target',
        targetFile(await start(), name.replace(' ', '-'), name === 'silent' ? '500ms' : '20s'),
        '--only',
        'as4/5.1.8/1,as4/5.1.8/2,ebms/5.1/3',
        '--out',
        directory,
      ],
      out,
    );
    expect(code).toBe(EXIT.failed);
    expect(out.text).toMatch(line);
    expect(out.text).toMatch(/blocked {2}as4\/5\.1\.8\/2/);
    // eslint-disable-next-line no-control-regex
    expect(out.text).not.toMatch(/[\u001b\u009b]/);
    expect(readFileSync(join(directory, 'report.html'), 'utf8')).not.toContain('<script');
    expect(() => readXml(readFileSync(join(directory, 'junit.xml')))).not.toThrow();
  });
});

describe('send', () => {
  const args = (url: URL, ...more: string[]) => ['--url', url.href, '--file', join(folder, 'invoice.xml'), ...more];
  const keys = () => ['--key', join(folder, 'sender.key'), '--cert', join(folder, 'sender.crt')];

  test('two copies: both get the same Receipt, and exit 0', async () => {
    const out = captured();
    expect(await sendCommand(args(await receiver(), '--times', '2', ...keys()), out)).toBe(EXIT.ok);
    expect(out.text).toMatch(/copy 1: HTTP 200, Receipt .*, signature valid/);
    expect(out.text).toMatch(/copy 2: [^]*identical to the first answer/);
    expect(out.text).not.toContain('NOT identical');
  });

  test("a receiver that signs anew shows, in JSON too; the keys and the receiver's certificate are taken", async () => {
    const out = captured();
    const receiverToo = ['--receiver', join(folder, 'receiver.crt'), '--encrypt', join(folder, 'receiver.crt')];
    const code = await sendCommand(
      args(
        await receiver(MakesNewReceipts),
        '--times',
        '3',
        '--concurrent',
        '--message-id',
        'my-id@x',
        '--json',
        ...keys(),
        ...receiverToo,
      ),
      out,
    );
    const seen = JSON.parse(out.text) as {
      messageId: string;
      copies: { identicalToFirst: boolean; signature: string; refToMessageId: string }[];
    };
    expect(code).toBe(EXIT.ok);
    expect(seen.messageId).toBe('my-id@x');
    expect(seen.copies.map(({ identicalToFirst }) => identicalToFirst)).toEqual([true, false, false]);
    expect(
      seen.copies.every(({ signature, refToMessageId }) => signature === 'valid' && refToMessageId === 'my-id@x'),
    ).toBe(true);
  });

  test('a Receipt under another certificate is called foreign, no Receipt is exit 1', async () => {
    const out = captured();
    await sendCommand(args(await receiver(), ...keys(), '--receiver', join(folder, 'sender.crt')), out);
    expect(out.text).toContain('signature foreign');
    const unsigned = captured();
    expect(await sendCommand(args(await receiver(), '--unsigned'), unsigned)).toBe(EXIT.ok);
    expect(unsigned.text).toContain('signature unsigned');
    expect(await sendCommand(args(new URL('http://127.0.0.1:1/')), captured())).toBe(EXIT.failed);
  });

  test('wrong options are refused', async () => {
    for (const wrong of [
      [],
      ['--url', 'x', '--file', 'y'],
      args(new URL('http://x/'), '--times', '0'),
      args(new URL('http://x/'), '--key', 'only'),
    ]) {
      await expect(sendCommand(wrong, captured())).rejects.toThrow(Usage);
    }
  });
});

describe('list, compare, schema', () => {
  test('list prints what was asked for', async () => {
    const out = captured();
    await listCommand(['--only', 'once/replay'], out);
    expect(out.text).toMatch(/once\/replay\/2 +observe +a duplicate gets the very bytes/);
    expect(out.text).toMatch(/6 requirements\n$/);
    const json = captured();
    await listCommand(['--json', '--profile', 'peppol'], json);
    expect((JSON.parse(json.text) as { id: string }[]).some(({ id }) => id === 'ta/cp-ta20/1')).toBe(false);
  });

  test('compare shows reports side by side, and refuses what is no report', async () => {
    for (const [name, Kind] of [
      ['a', GoodReceiver],
      ['b', MakesNewReceipts],
    ] as const) {
      await runCommandLine(
        [
          '--target',
          targetFile(await receiver(Kind), `side-${name}`),
          '--only',
          REPLAY,
          '--out',
          join(folder, `side-${name}`),
        ],
        captured(),
      );
    }
    const out = captured();
    await compareCommand(
      [join(folder, 'side-a/report.json'), join(folder, 'side-b/report.json'), '--differences'],
      out,
    );
    expect(out.text).toMatch(/\| id \| requirement \| side-a 1 \| side-b 1 \|/);
    expect(out.text).toMatch(/\| once\/replay\/2 \| .* \| pass \| \*\*fail\*\*: /);
    expect(out.text).not.toMatch(/\| soap12\/5\/1 \|/);
    writeFileSync(join(folder, 'other.json'), '{}');
    await expect(compareCommand([join(folder, 'side-a/report.json'), join(folder, 'other.json')], out)).rejects.toThrow(
      /no report of this suite/,
    );
  });

  test('the schema in schemas/ is the one of the code (as4-once-conformance schema prints it)', () => {
    const file = fileURLToPath(new URL('../../schemas/conformance-report.schema.json', import.meta.url));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(reportJsonSchema())));
  });
});
