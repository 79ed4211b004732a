import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { BusinessDocumentReader } from '../../src/edi/sbdh.js';
import { InterchangeReader } from '../../src/edi/reader.js';
import type { Interchange } from '../../src/edi/interchange.js';
import { bytes, edifact, sbd, x12 } from './samples.js';

/** What a reader makes of the bytes when they arrive in pieces that end at `cuts`: the result, or the refusal. */
function outcome(file: Buffer, cuts: readonly number[]): unknown {
  const found: Interchange[] = [];
  try {
    const reader = new InterchangeReader({ onInterchange: (one) => found.push(one) });
    for (const piece of pieces(file, cuts)) reader.push(piece);
    reader.end();
    return found;
  } catch (error) {
    if (error instanceof As4OnceError) return { refused: error.message, found };
    throw error;
  }
}

function documentOutcome(file: Buffer, cuts: readonly number[]): unknown {
  try {
    const reader = new BusinessDocumentReader();
    for (const piece of pieces(file, cuts)) reader.push(piece);
    return reader.end();
  } catch (error) {
    if (error instanceof As4OnceError) return { refused: error.code };
    throw error;
  }
}

function pieces(file: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts.map((cut) => cut % (file.length + 1)).sort((a, b) => a - b), file.length];
  return ends.map((end, index) => file.subarray(index === 0 ? 0 : ends[index - 1], end));
}

const long = 'x'.repeat(20_000);
const files: Record<string, string> = {
  edifact: `ï»¿\r\n${edifact('1', { una: "UNA:+.? '\r\n" })}\r\n${edifact('2', { body: "UNH+1+CONTRL:D:3:UN'UCI+1+A+B+4'FTX+????+a??'UNT+4+1'" })}\n`,
  object: edifact('3', { body: "UNO+1+S:1+T+9'UNZ+1'\0\0 UNP+9+1'" }),
  released: edifact("R?'1", { body: `UNH+1+A'FTX+${'?'.repeat(40)}?'${'?'.repeat(41)}''UNT+4+1'` }),
  long: edifact('4', { body: `UNH+1+A'FTX+${long}'UNH${long}+9'UNT+4+1'` }),
  unterminated: `${edifact('5')}ï»¿${edifact('6').slice(0, -1)} \r\n`,
  x12: `${x12('1')}\r\n${x12('2', { body: 'TA1*1*240229*1305*R*025~', groups: '0' })}`,
  recoded: x12('4').replaceAll(':', '\xe2\x80\xa6').replaceAll('~', '\xa7'),
  binary: x12('3', { body: "GS*PO*A*B*1*1*7*X*005010~ST*841*0001~BIN*9*IEA~\0*1~~~BIG*20240229~BDS*A*3*~~~~SE*5*0001~GE*1*7~" }),
};

describe('splitting', () => {
  it.each(Object.entries(files))('at any one place, the reader sees the same in %s', (_name, text) => {
    const file = bytes(text);
    const whole = outcome(file, []);
    expect(whole).not.toHaveProperty('refused');
    const step = file.length > 2_000 ? 97 : 1;
    for (let cut = 1; cut < file.length; cut += step) expect(outcome(file, [cut]), `cut at ${cut}`).toEqual(whole);
    expect(outcome(file, Array.from({ length: Math.min(file.length, 3_000) }, (_, at) => at))).toEqual(whole);
  });

  it('of a damaged file changes neither result nor refusal, and no damage makes the reader hang or grow', () => {
    const damage = fc.record({
      name: fc.constantFrom(...Object.keys(files)),
      edits: fc.array(fc.record({ at: fc.nat(), remove: fc.nat({ max: 6 }), insert: fc.oneof(fc.constantFrom("'", '?', '+', '~', '*', 'UNB+', 'UNZ+1+1\'', 'ISA', 'BIN*5*', '\0', '\n', 'ÿ'), fc.string({ unit: 'binary-ascii', maxLength: 4 })) }), { maxLength: 4 }),
      cuts: fc.array(fc.nat(), { maxLength: 12 }),
    });
    fc.assert(fc.property(damage, ({ name, edits, cuts }) => {
      let text = files[name] ?? '';
      for (const { at, remove, insert } of edits) {
        const place = at % (text.length + 1);
        text = text.slice(0, place) + insert + text.slice(place + remove);
      }
      const file = bytes(text);
      expect(outcome(file, cuts)).toEqual(outcome(file, []));
    }), { numRuns: 3_000 });
  });

  it('of a business document changes neither result nor refusal', () => {
    const file = Buffer.from(sbd({ id: 'id-\u00e4\u20ac-1', payload: '<p><![CDATA[x]]>\u{1f600}</p>' }), 'utf8');
    const whole = documentOutcome(file, []);
    expect(whole).toMatchObject({ header: { instanceIdentifier: 'id-\u00e4\u20ac-1' } });
    for (let cut = 1; cut < file.length; cut += 1) expect(documentOutcome(file, [cut]), `cut at ${cut}`).toEqual(whole);
    fc.assert(fc.property(fc.nat(), fc.nat({ max: 20 }), fc.string({ maxLength: 8 }), fc.array(fc.nat(), { maxLength: 8 }), (at, remove, insert, cuts) => {
      const place = at % file.length;
      const damaged = Buffer.concat([file.subarray(0, place), Buffer.from(insert), file.subarray(place + remove)]);
      expect(documentOutcome(damaged, cuts)).toEqual(documentOutcome(damaged, []));
    }), { numRuns: 1_000 });
  });
});
