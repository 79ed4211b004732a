import { describe, expect, it } from 'vitest';
import { describeEdi } from '../../src/edi/describe.js';
import { bytes, edifact, sbd, x12 } from './samples.js';

describe('describing a file', () => {
  it('names kind, size and what it holds', () => {
    expect(describeEdi(bytes(edifact('1')))).toMatchObject({ category: 'edifact', verdict: 'parse', size: edifact('1').length, interchangeCount: 1, interchanges: [{ controlRef: '1', start: 0 }] });
    expect(describeEdi(bytes(x12('1')))).toMatchObject({ category: 'x12', verdict: 'parse', interchanges: [{ ISA13: '000000001', ISA06: 'SENDER', ISA06raw: 'SENDER         ' }] });
    expect(describeEdi(bytes(sbd()))).toMatchObject({ category: 'sbdh', verdict: 'parse', instanceIdentifier: 'doc-1', hasSBDH: true });
  });

  it('says of a refused file why and where, and nothing that could be taken for a key', () => {
    const refused = describeEdi(bytes(edifact('1').slice(0, -3)));
    expect(refused).toEqual({
      category: 'edifact', verdict: 'reject', size: edifact('1').length - 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      reason: 'the file ends inside the interchange that begins at offset 0', segment: 5, tag: 'UNZ', offset: edifact('1').length - 3,
    });
    expect(describeEdi(bytes('???'))).toMatchObject({ category: 'unknown', verdict: 'reject', offset: 0 });
    expect(describeEdi(bytes('<a>'))).toMatchObject({ category: 'sbdh', verdict: 'reject' });
    // docs/edi.md promises to say what these are; they were sent to no reader of EDI at all
    expect(describeEdi(bytes("UIB+UNOB:4+1'"))).toMatchObject({ category: 'edifact', verdict: 'reject', reason: 'interactive EDIFACT (UIB) is not supported' });
    for (const wide of [Buffer.from(`\ufeff${edifact('1')}`, 'utf16le'), Buffer.from(edifact('1'), 'utf16le'), Buffer.from(edifact('1'), 'utf16le').swap16()]) {
      expect(describeEdi(wide)).toMatchObject({ category: 'edifact', verdict: 'reject', reason: expect.stringContaining('UTF-16') });
    }
  });

  it('warns of what concerns the whole interchange once, and lists the rest at its interchange', () => {
    const wrong = edifact('1', { unz: "UNZ+7+1'", body: "UNH+1+A'UNT+9+1'" });
    expect(describeEdi(bytes(wrong + wrong))).toMatchObject({
      warnings: ['UNZ count 7, counted 1', 'the same (sender, recipient, 0020) occurs twice in this file'],
      interchanges: [{ checks: [{ level: 'message', text: 'UNT count 9, counted 2' }] }, {}],
    });
    expect(describeEdi(bytes(wrong), { checks: { message: 'strict' } })).toMatchObject({ verdict: 'reject', reason: 'UNT count 9, counted 2', segment: 3 });
  });
});
