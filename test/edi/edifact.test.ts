import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EdiBroken, Finding } from '../../src/edi/broken.js';
import type { EdifactInterchange } from '../../src/edi/interchange.js';
import { InterchangeReader } from '../../src/edi/reader.js';
import { interchangesOf, readInterchanges, type ReadOptions } from '../../src/edi/read-interchanges.js';
import { bytes, edifact } from './samples.js';

const read = (text: string, options: ReadOptions = {}): EdifactInterchange[] => interchangesOf(bytes(text), { ...options, syntax: 'edifact' }) as EdifactInterchange[];

function refusal(text: string | Buffer, options: ReadOptions = {}): EdiBroken {
  try {
    interchangesOf(typeof text === 'string' ? bytes(text) : text, options);
  } catch (error) {
    return error as EdiBroken;
  }
  throw new Error('was not refused');
}

describe('EDIFACT envelopes', () => {
  it('names the interchange by UNB', () => {
    const [one] = read(edifact('REF1', { test: '1' }));
    expect(one).toMatchObject({
      syntaxId: 'UNOC', syntaxVersion: '3', sender: 'SENDER', senderQualifier: '14', senderInternal: 'S1', recipient: 'RECEIVER',
      recipientQualifier: 'ZZ', date: '240229', time: '1305', controlRef: 'REF1', applicationRef: 'ORDERS', testIndicator: '1',
      messageRefs: ['1'], messageCount: 1, unz: { count: '1', ref: 'REF1' }, unzMatches: true, findings: [], acknowledgement: false,
    });
    expect(one).not.toHaveProperty('recipientInternal');
  });

  it('resolves release characters and is not ended by a released terminator', () => {
    const [one] = read("UNB+UNOC:3+A?'B:14+C??:ZZ+240229:1305+R?+1?:2'UNZ+0+R?+1?:2'");
    expect(one).toMatchObject({ sender: "A'B", recipient: 'C?', recipientQualifier: 'ZZ', controlRef: 'R+1:2', unzMatches: true });
  });

  it('takes separators from UNA, a space there meaning none', () => {
    const [one] = read('UNA|;.  ~UNB;UNOA|4;A?;B;240229|1305;1~UNZ;0;1~');
    expect(one).toMatchObject({ una: 'UNA|;.  ~', sender: 'A?', delimiters: { component: '|', element: ';', decimal: '.', terminator: '~' } });
    expect(one?.delimiters).not.toHaveProperty('release');
    expect(one?.delimiters).not.toHaveProperty('repetition');
  });

  it('knows the repetition separator of syntax version 4 only', () => {
    expect(read("UNB+UNOA:4+A+B+20240229:1305+1'UNZ+0+1'")[0]?.delimiters.repetition).toBe('*');
    expect(read("UNB+UNOA:3+A+B+240229:1305+1'UNZ+0+1'")[0]?.delimiters).not.toHaveProperty('repetition');
  });

  it('tells where each interchange of a file begins and ends', () => {
    const [first, second] = [edifact('1', { una: "UNA:+.? '\r\n" }), edifact('2')];
    const file = `\ufeff\r\n${first}\r\n  ${second}\n\n`.replace('\ufeff', 'ï»¿');
    const found = read(file);
    expect(found.map(({ start, end }) => file.slice(start, end))).toEqual([first, second]);
    expect(found.map(({ sha256 }) => sha256)).toEqual([first, second].map((text) => createHash('sha256').update(bytes(text)).digest('hex')));
  });

  it('may begin with a byte order mark each, where files were joined', () => {
    // only the one at the very beginning was passed over
    const file = `ï»¿${edifact('1')}\nï»¿${edifact('2')}`;
    expect(read(file).map(({ start, end }) => file.slice(start, end))).toEqual([edifact('1'), edifact('2')]);
  });

  it('counts groups where there are groups, and compares their ends', () => {
    const group = "UNG+ORDERS+A+B+240229:1305+9+UN+D:96A'UNH+1+ORDERS:D:96A:UN'UNT+2+1'UNH+2+ORDERS:D:96A:UN'UNT+2+2'UNE+2+9'";
    expect(read(edifact('1', { body: group }))[0]).toMatchObject({ groups: [{ type: 'ORDERS', ref: '9' }], messageCount: 2, findings: [] });
    expect(read(edifact('1', { body: group.replace('UNE+2+9', 'UNE+1+8') }))[0]?.findings.map(({ level, text }) => [level, text])).toEqual([
      ['group', "UNE reference '8' != UNG 0048 '9'"], ['group', 'UNE count 1, counted 2'],
    ]);
  });

  it('passes over a binary object by its announced length (UNO to UNP)', () => {
    const object = "UNZ+9+9'\0UNB+";
    const [one] = read(edifact('1', { body: `UNO+1+S:1+T+${object.length}'${object}UNP+${object.length}+1'` }));
    expect(one).toMatchObject({ unz: { count: '1', ref: '1' } });
  });

  it('reads CONTRL, which must never be acknowledged itself', () => {
    const contrl = (action: string): string => edifact('9', { body: `UNH+1+CONTRL:D:3:UN'UCI+REF1+SENDER:14+RECEIVER:ZZ+${action}+26'UNT+3+1'` });
    const [one] = read(contrl('4'));
    expect(one?.acknowledgement).toBe(true);
    expect(one?.acknowledges).toEqual([{
      kind: 'CONTRL', verdict: 'negative', controlRef: 'REF1', sender: 'SENDER', senderQualifier: '14', recipient: 'RECEIVER', recipientQualifier: 'ZZ', action: '4', error: '26',
    }]);
    expect(['7', '8'].map((action) => read(contrl(action))[0]?.acknowledges[0]?.verdict)).toEqual(['positive', 'positive']);
    expect(read(edifact('9', { body: "UNH+1+ORDERS:D:96A:UN'UCI+REF1+A+B+4'UNT+3+1'" }))[0]?.acknowledges).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['UNZ count', edifact('1', { unz: "UNZ+2+1'" }), 'UNZ count 2, counted 1'],
    ['UNZ reference', edifact('1', { unz: "UNZ+1+2'" }), "UNZ reference '2' != UNB 0020 '1'"],
    ['UNT count', edifact('1', { body: "UNH+1+ORDERS:D:96A:UN'UNT+5+1'" }), 'UNT count 5, counted 2'],
    ['UNT reference', edifact('1', { body: "UNH+1+ORDERS:D:96A:UN'UNT+2+2'" }), "UNT reference '2' != UNH 0062 '1'"],
    ['a missing UNT', edifact('1', { body: "UNH+1+ORDERS:D:96A:UN'" }), "UNH '1' has no UNT"],
    ['a repeated message reference', edifact('1', { body: "UNH+1+A'UNT+2+1'UNH+1+A'UNT+2+1'", unz: "UNZ+2+1'" }), 'repeated UNH reference'],
  ])('reports %s by default and refuses it where checks are strict', (_what, text, expected) => {
    const findings = read(text)[0]?.findings ?? [];
    expect(findings.map((finding) => finding.text)).toEqual([expected]);
    const { level, segment, offset } = findings[0] as Finding;
    expect(refusal(text, { checks: 'strict' })).toMatchObject({ code: 'EDI_BROKEN', reason: expected, segment, offset });
    expect(refusal(text, { checks: { [level]: 'strict' } }).reason).toBe(expected);
    const others = { interchange: 'strict', group: 'strict', message: 'strict', [level]: 'warn' } as const;
    expect(read(text, { checks: others })).toHaveLength(1);
  });
});

describe('files that are no EDIFACT interchange', () => {
  it('cut anywhere before the last terminator is refused, with the place', () => {
    const text = edifact('12', { una: "UNA:+.? '" });
    for (let length = 0; length < text.length - 1; length += 1) {
      const error = refusal(text.slice(0, length));
      expect(error).toMatchObject({ code: 'EDI_BROKEN' });
      expect(error.offset, String(length)).toBeLessThanOrEqual(length);
    }
    expect(refusal(text.slice(0, -2))).toMatchObject({ segment: 5, tag: 'UNZ', offset: text.length - 2 });
  });

  it('that lacks nothing but the terminator of its UNZ is read, with a warning', () => {
    // writers that join segments by terminators write none behind the last; a reference that is whole shows that nothing else is missing
    const whole = edifact('12').slice(0, -1);
    for (const text of [whole, `${whole}\r\n`]) {
      const [one] = read(text);
      expect(one).toMatchObject({ start: 0, end: whole.length, unzMatches: true, findings: [{ level: 'interchange', text: 'the terminator of UNZ is missing', segment: 5 }] });
      expect(one?.sha256).toBe(createHash('sha256').update(bytes(whole)).digest('hex'));
      expect(refusal(text, { checks: 'strict' })).toMatchObject({ reason: 'the terminator of UNZ is missing', tag: 'UNZ' });
    }
    expect(read(edifact('1') + whole)).toMatchObject([{ findings: [] }, { controlRef: '12' }]);
    for (const unz of ['UNZ+1+1', 'UNZ+1+123', 'UNZ+1+12?', 'UNZX+1+12', 'UNZ+1', 'UNT+1+12']) {
      expect(refusal(edifact('12', { unz })).reason, unz).toMatch(/^the file ends inside the interchange/);
    }
  });

  it.each<[string, string | Buffer, object]>([
    ['empty', '', { offset: 0, reason: 'the file holds no interchange' }],
    ['something else', 'Hello world', { offset: 0, reason: 'begins neither with UNA, UNB nor with ISA' }],
    ['without UNB', "UNA:+.? 'UNH+1+ORDERS'", { reason: 'no UNB after UNA', offset: 9, tag: 'UNH' }],
    ['with separators that cannot be told apart', "UNA++.? 'UNB+UNOA:1", { offset: 0, reason: expect.stringContaining('separators') }],
    ['with letters as separators', "UNAA+.? 'UNB+UNOA:1", { reason: expect.stringContaining('separators') }],
    ['with no sender', "UNB+UNOA:1++B+240229:1305+1'UNZ+0+1'", { segment: 1, tag: 'UNB', reason: 'UNB has no sender (0004)' }],
    ['with no reference', "UNB+UNOA:1+A+B+240229:1305'UNZ+0'", { reason: 'UNB has no interchange control reference (0020)' }],
    ['with a line break inside UNB', "UNB+UNOA:1+A+B+240229:1305+1\nUNH+1+ORDERS'UNZ+0+1'", { segment: 1, reason: 'a line break inside an element' }],
    ['with a NUL byte', edifact('1', { body: "UNH+1+A'FTX+\0'UNT+3+1'" }), { segment: 3, tag: 'FTX', reason: 'NUL byte' }],
    ['with a second UNB before UNZ', edifact('1', { unz: '' }) + edifact('2'), { segment: 5, tag: 'UNB', reason: 'UNB inside an interchange: its UNZ is missing' }],
    ['with a UNA before UNZ', edifact('1', { unz: '' }) + edifact('2', { una: "UNA:+.? '" }), { tag: 'UNA', reason: 'UNA inside an interchange: its UNZ is missing' }],
    ['with bytes behind UNZ', `${edifact('1')}xyz`, { reason: 'bytes that are no interchange', offset: edifact('1').length }],
    ['with a byte outside its character set in UNB', "UNB+UNOA:1+A\xc4+B+240229:1305+1'UNZ+0+1'", { reason: 'a byte outside the character set UNOA' }],
    ['that says UTF-8 and is not', "UNB+UNOW:4+A\xc4+B+20240229:1305+1'UNZ+0+1'", { reason: 'not UTF-8 although UNOW says so' }],
    ['in UTF-16', Buffer.from(`\ufeff${edifact('1')}`, 'utf16le'), { offset: 0, reason: expect.stringContaining('UTF-16') }],
    ['in UTF-16 without byte order mark', Buffer.from(edifact('1'), 'utf16le'), { reason: expect.stringContaining('UTF-16') }],
    ['in EBCDIC', Buffer.from([0xe4, 0xd5, 0xc2, 0x4e, 0xe4]), { reason: expect.stringContaining('EBCDIC') }],
    ['interactive', "UIB+UNOA:4'", { reason: 'interactive EDIFACT (UIB) is not supported' }],
    ['interactive, with UNA', "UNA:+./*'\nUIB+UNOA:0++1234'", { reason: 'interactive EDIFACT (UIB) is not supported', offset: 10 }],
    // writers put the UNA before the first interchange only; that the next is read by the defaults was nowhere said
    ['whose second interchange has the first one\'s separators and no UNA', "UNA|;.? ~UNB;UNOA|1;A;B;240229|1305;1~UNZ;0;1~UNB;UNOA|1;A;B;240229|1305;2~UNZ;0;2~",
      { reason: 'UNB is not followed by the element separator: interchange 2 without UNA, for which the default separators hold' }],
    ['whose second interchange has the first one\'s terminator and no UNA', "UNA:+.? ~UNB+UNOA:1+A+B+240229:1305+1~UNZ+0+1~UNB+UNOA:1+A+B+240229:1305+2~UNZ+0+2~",
      { reason: expect.stringMatching(/^the file ends inside the interchange that begins at offset 46: interchange 2 without UNA/) }],
    ['with an object of unknown length', edifact('1', { body: "UNO+1+S+T'" }), { tag: 'UNO', segment: 2 }],
    ['with an endless reference', edifact('1'.repeat(300)), { tag: 'UNB', reason: 'an element is longer than 255 bytes' }],
  ])('%s is refused', (_what, text, expected) => {
    expect(refusal(text)).toMatchObject({ code: 'EDI_BROKEN', ...expected });
  });

  it('decodes parties by the declared character set', () => {
    const sender = (syntax: string, byte: string): string | undefined => read(`UNB+${syntax}:3+${byte}+B+240229:1305+1'UNZ+0+1'`)[0]?.sender;
    expect(sender('UNOC', '\xc4')).toBe('Ä');
    expect(sender('UNOE', '\xb1')).toBe('Б');
    expect(sender('UNOF', '\xc1')).toBe('Α');
    expect(sender('UNOW', '\xc3\x84')).toBe('Ä');
  });

  it('a gigabyte without a terminator is refused at its first megabyte', () => {
    const chunk = Buffer.alloc(64 * 1024, 'A');
    const reader = new InterchangeReader({ onInterchange: () => expect.unreachable() });
    reader.push(bytes("UNB+UNOA:1+A+B+240229:1305+1'FTX+"));
    let pushed = 0;
    let error: unknown;
    try {
      for (; pushed < 16 * 1024; pushed += 1) reader.push(chunk);
    } catch (caught) {
      error = caught;
    }
    expect(pushed).toBe(15);
    expect(error).toMatchObject({ segment: 2, tag: 'FTX', offset: 29, reason: 'no segment terminator within 1048576 bytes' });
  });

  it('a file with more interchanges than may be claimed together is refused', async () => {
    async function* three(): AsyncIterable<Uint8Array> {
      for (const ref of ['1', '2', '3']) yield bytes(edifact(ref));
    }
    await expect(readInterchanges(three(), { most: 2 })).rejects.toMatchObject({ reason: 'more than 2 interchanges in one file', offset: edifact('1').length * 2 });
    expect(await readInterchanges(three(), { most: 3 })).toHaveLength(3);
  });
});
