import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EdiBroken, Finding } from '../../src/edi/broken.js';
import type { X12Interchange } from '../../src/edi/interchange.js';
import { interchangesOf, type ReadOptions } from '../../src/edi/read-interchanges.js';
import { bytes, edifact, isa, x12 } from './samples.js';

const read = (text: string, options: ReadOptions = {}): X12Interchange[] => interchangesOf(bytes(text), { ...options, syntax: 'x12' }) as X12Interchange[];

function refusal(text: string, options: ReadOptions = {}): EdiBroken {
  try {
    interchangesOf(bytes(text), options);
  } catch (error) {
    return error as EdiBroken;
  }
  throw new Error('was not refused');
}

describe('X12 envelopes', () => {
  it('names the interchange by ISA', () => {
    const [one] = read(x12('42', { test: 'T' }));
    expect([5, 6, 7, 8, 9, 10, 13, 15].map((index) => one?.isa[index])).toEqual(['ZZ', 'SENDER', '01', 'RECEIVER', '240229', '1305', '000000042', 'T']);
    expect(one).toMatchObject({
      raw: { ISA06: 'SENDER         ', ISA08: 'RECEIVER       ' }, separators: { element: '*', component: ':', terminator: '~', repetition: '^' },
      groups: [{ GS01: 'PO', GS02: 'SENDER', GS03: 'RECEIVER', GS06: '7', GS08: '005010' }], transactions: [['850', '0001']],
      iea: ['1', '000000042'], ieaMatches: true, segments: 7, findings: [], acknowledgement: false,
    });
  });

  it.each<[string, string, string]>([['00401', '^', 'none'], ['00402', '^', '^'], ['00501', 'U', 'none'], ['00501', '!', '!']])(
    'version %s with ISA11 %s: repetition separator %s', (version, isa11, expected) => {
      const text = x12('1', { version }).replace('*^*', `*${isa11}*`);
      expect(read(text)[0]?.separators.repetition ?? 'none').toBe(expected);
    });

  it('tells where each interchange of a file begins and ends', () => {
    const [first, second] = [x12('1').trimEnd(), x12('2').trimEnd()];
    const file = `\n${first}\r\n${second}\r\n\x1a`;
    const found = read(file);
    expect(found.map(({ start, end }) => file.slice(start, end))).toEqual([first, second]);
    expect(found[1]?.sha256).toBe(createHash('sha256').update(bytes(second)).digest('hex'));
  });

  it('passes over binary data by its announced length', () => {
    const data = 'IEA*1*9~\0ISA*';
    for (const segment of [`BIN*${data.length}*${data}~`, `BDS*ASC*${data.length}*${data}~`]) {
      const [one] = read(x12('1', { body: `GS*PO*A*B*20240229*1305*7*X*005010~ST*841*0001~${segment}SE*3*0001~GE*1*7~` }));
      expect(one).toMatchObject({ binaryLengths: [data.length], iea: ['1', '000000001'], findings: [], segments: 7 });
    }
  });

  it('does not count the bytes of a long binary object as one long segment', () => {
    const data = '.'.repeat(3 * 1024 * 1024);
    const text = x12('1', { body: `GS*PO*A*B*20240229*1305*7*X*005010~ST*841*0001~BIN*${data.length}*${data}~SE*3*0001~GE*1*7~` });
    expect(read(text)[0]).toMatchObject({ findings: [], segments: 7 });
  });

  it('accepts a TA1 alone and reads it', () => {
    const [one] = read(x12('5', { body: 'TA1*000000042*240229*1305*R*025~', groups: '0' }));
    expect(one).toMatchObject({ findings: [], acknowledgement: true, groupCount: 0 });
    expect(one?.acknowledges).toEqual([{ kind: 'TA1', verdict: 'negative', controlNumber: '000000042', date: '240229', time: '1305', code: 'R', note: '025' }]);
    expect(['A', 'E'].map((code) => read(x12('5', { body: `TA1*1*240229*1305*${code}*000~`, groups: '0' }))[0]?.acknowledges[0]?.verdict)).toEqual(['positive', 'positive']);
  });

  const answer = (type: string, inner: string): string =>
    x12('6', { body: `GS*FA*A*B*20240229*1305*7*X*005010~ST*${type}*0001~AK1*PO*7~${inner}SE*${2 + inner.split('~').length}*0001~GE*1*7~` });

  it.each<[string, string, string]>([
    ['997', 'AK2*850*0001~AK5*A~AK9*A*1*1*1~', 'positive'],
    ['997', 'AK2*850*0001~AK5*E*5~AK9*E*1*1*1~', 'positive'],
    ['997', 'AK2*850*0001~AK5*R*5~AK9*R*1*1*0~', 'negative'],
    ['999', 'AK2*850*0001~IK5*R*5~AK9*R*1*1*0~', 'negative'],
    ['999', 'AK2*850*0001~IK5*A~AK2*850*0002~IK5*R*5~AK9*P*2*2*1~', 'partial'],
    ['997', 'AK2*850*0001~AK5*R*5~', 'negative'],
    ['997', 'AK9*A*1*1*1~', 'positive'],
  ])('reads %s %s as %s', (kind, inner, verdict) => {
    const [one] = read(answer(kind, inner));
    expect(one).toMatchObject({ acknowledgement: true, acknowledges: [{ kind, verdict, functionalId: 'PO', groupNumber: '7' }] });
  });

  it('a transaction set beside the acknowledgement makes the interchange business', () => {
    const [one] = read(x12('5', { body: `TA1*1*240229*1305*A*000~GS*PO*A*B*20240229*1305*7*X*005010~ST*850*0001~SE*2*0001~GE*1*7~` }));
    expect(one).toMatchObject({ acknowledgement: false, acknowledges: [{ kind: 'TA1' }] });
  });

  const group = (gs06: string, ge: string, sets = 'ST*850*0001~SE*2*0001~'): string => `GS*PO*SENDER*RECEIVER*20240229*1305*${gs06}*X*005010~${sets}GE*${ge}~`;
  it.each<[string, string, string]>([
    ['IEA02', x12('1').replace('IEA*1*000000001', 'IEA*1*000000002'), "IEA02 '000000002' != ISA13 '000000001'"],
    ['IEA01', x12('1', { groups: '2' }), 'IEA01 2, counted 1 groups'],
    ['GE02', x12('1', { body: group('7', '1*8') }), "GE02 '8' != GS06 '7'"],
    ['GE01', x12('1', { body: group('7', '2*7') }), 'GE01 2, counted 1 transaction sets'],
    ['a repeated GS06', x12('1', { body: group('7', '1*7') + group('7', '1*7'), groups: '2' }), 'repeated GS06'],
    ['a repeated ST02', x12('1', { body: group('7', '2*7', 'ST*850*0001~SE*2*0001~ST*850*0001~SE*2*0001~') }), 'repeated ST02'],
    ['SE01', x12('1', { body: group('7', '1*7', 'ST*850*0001~SE*9*0001~') }), 'SE01 9, counted 2 segments'],
    ['SE02', x12('1', { body: group('7', '1*7', 'ST*850*0001~SE*2*0002~') }), "SE02 '0002' != ST02 '0001'"],
    ['a missing SE', x12('1', { body: group('7', '1*7', 'ST*850*0001~') }), "ST '0001' has no SE"],
    ['an empty interchange', x12('1', { body: '', groups: '0' }), 'no GS'],
  ])('reports %s by default and refuses it where checks are strict', (_what, text, expected) => {
    const findings = read(text)[0]?.findings ?? [];
    expect(findings.map((finding) => finding.text)).toEqual([expected]);
    const { level, segment, offset } = findings[0] as Finding;
    expect(refusal(text, { checks: 'strict' })).toMatchObject({ code: 'EDI_BROKEN', reason: expected, segment, offset });
    expect(read(text, { checks: { interchange: 'strict', group: 'strict', message: 'strict', [level]: 'warn' } })).toHaveLength(1);
  });

  it.each(['\x7f', '\x85', '\xa6', '\xa7', '\xd6'])('takes any byte as a separator that is neither a letter nor a digit of ASCII: %j', (mark) => {
    // bytes beyond 0x7E were refused; DEL and the broken bar are in use
    expect(read(x12('1').replaceAll('*', mark))[0]).toMatchObject({ separators: { element: mark }, iea: ['1', '000000001'], findings: [] });
    expect(read(x12('1').replaceAll('~', mark))[0]).toMatchObject({ separators: { terminator: mark }, segments: 7, findings: [] });
    expect(read(x12('1').replaceAll('*:~', `*${mark}~`))[0]).toMatchObject({ separators: { component: mark }, findings: [] });
  });

  it('takes a character of several bytes between components, where files were recoded to UTF-8, and says so where it cannot', () => {
    const recoded = (mark: string, by: string): string => Buffer.from(x12('1').replaceAll(mark, by), 'utf8').toString('latin1');
    expect(read(recoded(':', '¦'))[0]).toMatchObject({ separators: { component: '¦', terminator: '~' }, segments: 7, findings: [] });
    for (const [mark, by, what] of [['~', 'Ö', 'segment terminator'], ['~', '…', 'segment terminator'], ['*', '§', 'element separator']] as const) {
      expect(refusal(recoded(mark, by)).reason).toBe(`the ${what} of ISA is a UTF-8 character of several bytes, and only one byte can be read as such`);
    }
  });

  it('trailing blanks of an element say nothing', () => {
    // only GS02, GS03 and IEA were read without them: a padded GS06 differed from its GE02
    const padded = 'GS*PO*SENDER*RECEIVER*20240229*1305*7  *X*005010  ~ST*850*0001 ~SE*2 *0001~GE*1*7 ~';
    expect(read(x12('1', { body: padded }), { checks: 'strict' })[0]).toMatchObject({ groups: [{ GS06: '7', GS08: '005010' }], transactions: [['850', '0001']] });
  });

  it('groups of other parties than the interchange are usual, even where checks are strict', () => {
    expect(read(x12('1', { sender: 'VAN' }), { checks: 'strict' })[0]).toMatchObject({ groupsNameOthers: true });
  });
});

describe('files that are no X12 interchange', () => {
  it('cut anywhere before the last terminator is refused', () => {
    const text = x12('1').trimEnd();
    for (let length = 0; length < text.length - 1; length += 1) expect(refusal(text.slice(0, length)), String(length)).toMatchObject({ code: 'EDI_BROKEN' });
    expect(refusal(text.slice(0, -2))).toMatchObject({ segment: 7, tag: 'IEA', offset: text.length - 2 });
  });

  it('that lacks nothing but the terminator of its IEA is read, with a warning', () => {
    // where the terminator is a line break, editors and FTP servers drop the last one; IEA02 is whole, so nothing else is missing
    const whole = x12('1').trimEnd().replaceAll('~\n', '~').replaceAll('~', '\r').slice(0, -1);
    for (const text of [whole, `${whole}  `]) {
      expect(read(text)).toMatchObject([{ end: whole.length, ieaMatches: true, segments: 7, findings: [{ level: 'interchange', text: 'the terminator of IEA is missing' }] }]);
      expect(read(text)[0]?.sha256).toBe(createHash('sha256').update(bytes(whole)).digest('hex'));
    }
    expect(refusal(whole, { checks: 'strict' })).toMatchObject({ reason: 'the terminator of IEA is missing', tag: 'IEA' });
    expect(refusal(whole.replace('IEA*1*000000001', 'IEA*1*000000002')).reason).toMatch(/^the file ends inside the interchange/);
  });

  it.each<[string, string, object]>([
    ['with a short ISA', x12('1').replace('          *00', ' *00'), { segment: 1, offset: 17, reason: 'ISA is not 106 characters with its separators in place' }],
    ['whose terminator is a letter', x12('1').replace(':~', ':X'), { reason: 'the separators of ISA cannot be told apart or are letters' }],
    ['whose component separator is the terminator', x12('1').replace('*:~', '*~~'), { reason: 'the separators of ISA cannot be told apart or are letters' }],
    ['without control number', isa('         ').replace('000000000', '         ') + 'IEA*0*~', { reason: 'ISA13 is empty' }],
    ['without sender', x12('1', { sender: '' }), { reason: 'ISA06 is empty' }],
    ['with a control character in the sender', x12('1', { sender: 'A\nB' }), { reason: 'a control character in ISA06' }],
    ['with a second ISA before IEA', isa('1') + x12('2'), { segment: 2, tag: 'ISA', offset: 106 }],
    ['with a NUL byte', x12('1').replace('BEG', 'B\0G'), { reason: 'NUL byte', segment: 4, tag: 'B' }],
    ['with binary data of another length', x12('1', { body: 'BIN*3*1234~' }), { segment: 2, tag: 'BIN' }],
    ['with binary data past the end', x12('1', { body: 'BIN*99999999*1234~' }), { reason: expect.stringContaining('the file ends inside the interchange') }],
    ['mixed with EDIFACT', x12('1') + edifact('1'), { reason: 'EDIFACT and X12 interchanges in one file' }],
    ['with an endless element', x12('1', { body: `GS*PO*${'A'.repeat(300)}*B*1*1*7*X*005010~` }), { segment: 2, tag: 'GS' }],
  ])('%s is refused', (_what, text, expected) => {
    expect(refusal(text)).toMatchObject({ code: 'EDI_BROKEN', ...expected });
  });

  it('EDIFACT is refused where X12 is expected', () => {
    expect(refusal(edifact('1'), { syntax: 'x12' })).toMatchObject({ reason: 'edifact where x12 was expected' });
  });
});
