import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { boundaryOf, comparableId, parseContentType } from '../../src/mime/content-type.js';
import { firstBoundary } from '../../src/mime/first-boundary.js';

function read(value: string): Record<string, string> | string {
  try {
    const media = parseContentType(value);
    return media === undefined ? 'none' : { '': media.type, ...Object.fromEntries(media.parameters) };
  } catch (error) {
    return (error as As4OnceError).code;
  }
}

describe('Content-Type as real senders write it', () => {
  const spellings: [string, Record<string, string>][] = [
    [
      'multipart/related; boundary="=-M9awlqbs/xWAPxlvpSWrAg=="; type="application/soap+xml"',
      { boundary: '=-M9awlqbs/xWAPxlvpSWrAg==', type: 'application/soap+xml' },
    ],
    ['multipart/related;boundary="b"', { boundary: 'b' }],
    [
      'multipart/related; boundary= "MIMEBoundary_1"; type="application/soap+xml";',
      { boundary: 'MIMEBoundary_1', type: 'application/soap+xml' },
    ],
    [
      'multipart/related;\tboundary="--=M_1";\ttype="application/soap+xml";\tcharset=UTF-8',
      { boundary: '--=M_1', type: 'application/soap+xml', charset: 'UTF-8' },
    ],
    ['multipart/related;\r\n\tboundary="b";\r\n type="t/s"', { boundary: 'b', type: 't/s' }],
    ['Multipart/Related; Boundary=b; TYPE=text/xml', { boundary: 'b', type: 'text/xml' }],
    [
      'multipart/related; boundary=abc; type=application/soap+xml; start=<x@y>',
      { boundary: 'abc', type: 'application/soap+xml', start: '<x@y>' },
    ],
    [
      'multipart/related; type="application/xop+xml"; boundary="uuid:1"; start="<root.message@cxf.apache.org>"; start-info="application/soap+xml"',
      {
        type: 'application/xop+xml',
        boundary: 'uuid:1',
        start: '<root.message@cxf.apache.org>',
        'start-info': 'application/soap+xml',
      },
    ],
    ['multipart/related; boundary="a;b=\\"c\\"\\\\"; charset="utf-8"', { boundary: 'a;b="c"\\', charset: 'utf-8' }],
    ['multipart/related;;; boundary = b ;', { boundary: 'b' }],
    ['multipart/related; junk; boundary=b', { boundary: 'b' }],
    ['multipart/related; boundary=b; type=a; type=c', { boundary: 'b', type: 'a' }],
  ];
  for (const [value, parameters] of spellings)
    it(`reads ${value}`, () => expect(read(value)).toEqual({ '': 'multipart/related', ...parameters }));

  it('what could be read two ways is refused', () => {
    for (const value of [
      'multipart/related; boundary=a; boundary=b',
      'multipart/related; boundary=a; start=a; start=b',
      'multipart/related; boundary="a',
      "multipart/related; boundary*=utf-8''a; boundary=b",
      'multipart/related; boundary*0=a; boundary*1=b',
    ])
      expect(read(value)).toBe('MIME_BROKEN');
    expect(read('multipart/related; boundary=a; boundary="a"')).toEqual({ '': 'multipart/related', boundary: 'a' });
  });

  it('knows what is no media type', () => {
    for (const value of ['', 'multipart', 'a/b/c', '/', 'multipart/related, text/xml'])
      expect(read(value)).toBe('none');
  });

  it('a boundary must be there, be printable, not end in white space and not be endless', () => {
    const boundary = (value: string): string => {
      try {
        return boundaryOf(parseContentType(value)!);
      } catch (error) {
        return (error as As4OnceError).code;
      }
    };
    expect(boundary('multipart/related; boundary="a b"')).toBe('a b');
    for (const value of [
      'multipart/related',
      'multipart/related; boundary=""',
      'multipart/related; boundary="a "',
      'multipart/related; boundary="é"',
    ]) {
      expect(boundary(value)).toBe('MIME_BROKEN');
    }
    expect(boundary(`multipart/related; boundary=${'b'.repeat(201)}`)).toBe('MIME_BROKEN');
  });

  it('reads any quoted parameter back, whatever stands in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme-ascii', maxLength: 60 }),
        fc.constantFrom('; ', ';', ' ;\t', ';\r\n '),
        (value, separator) => {
          const quoted = value.replace(/["\\]/g, '\\$&');
          expect(read(`multipart/related${separator}x="${quoted}"${separator}boundary=b`)).toMatchObject({
            x: value,
            boundary: 'b',
          });
        },
      ),
    );
  });

  it('never throws anything but a refusal', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(';', '=', '"', '\\', ' ', 'a', '/', '*', 'boundary', '\n'), maxLength: 40 }),
        (value) => {
          const result = read(value);
          expect(typeof result === 'object' || result === 'none' || result === 'MIME_BROKEN').toBe(true);
        },
      ),
    );
  });
});

describe('comparable ids', () => {
  it('brackets, white space, cid: and percent-encoding do not count; case does', () => {
    for (const spelling of ['<a@b>', ' a@b ', 'cid:a@b', 'CID:a%40b', '<a%40b>'])
      expect(comparableId(spelling)).toBe('a@b');
    expect(comparableId('A@b')).toBe('A@b');
    expect(comparableId('100%')).toBe('100%');
  });
});

describe('the boundary of a package without a media type', () => {
  it('is what the first line that is not blank says', () => {
    const of = (text: string): string | undefined => firstBoundary(Buffer.from(text));
    expect(of('--a b\r\nContent-Type: x\r\n')).toBe('a b');
    expect(of('\ufeff\r\n\n--=_b= \n')).toBe('=_b=');
    expect(of(' --a\n')).toBeUndefined();
    expect(of('<a/>')).toBeUndefined();
    expect(of('--')).toBeUndefined();
    expect(of('')).toBeUndefined();
  });
});
