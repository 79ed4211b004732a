import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import type { Limits } from '../../src/limits.js';
import { MimeScanner } from '../../src/mime/scanner.js';
import type { ScanOptions } from '../../src/mime/scanner.js';

interface Part {
  readonly fields: readonly (readonly [string, string])[];
  content: Buffer;
  ended: boolean;
}

/** Scans the chunks; the parts so far and the refusal, if any. */
function scan(
  chunks: readonly Uint8Array[],
  options: Partial<ScanOptions> = {},
  limits: Partial<Limits> = {},
): { parts: Part[]; code: string; preamble: number } {
  const parts: Part[] = [];
  const scanner = new MimeScanner(
    {
      head: (head) => {
        expect(head.index).toBe(parts.length);
        parts.push({ fields: head.fields, content: Buffer.alloc(0), ended: false });
      },
      data: (bytes) => {
        parts.at(-1)!.content = Buffer.concat([parts.at(-1)!.content, bytes]);
      },
      end: () => {
        parts.at(-1)!.ended = true;
      },
    },
    { boundary: 'B', ...options },
    { ...LIMITS, ...limits },
  );
  let code = 'whole';
  try {
    for (const chunk of chunks) scanner.push(chunk);
    scanner.end();
  } catch (error) {
    if (!(error instanceof As4OnceError)) throw error;
    code = error.code;
  }
  return { parts, code, preamble: scanner.preambleBytes };
}

const text = (value: string): Uint8Array[] => [Buffer.from(value, 'latin1')];
const contents = (value: string, options: Partial<ScanOptions> = {}): string[] | string => {
  const { parts, code } = scan(text(value), options);
  return code === 'whole' ? parts.map((p) => p.content.toString('latin1')) : code;
};
const crlf = (value: string): string => value.replaceAll('\n', '\r\n');

describe('a package, with CRLF and with LF', () => {
  for (const [eol, form] of [
    ['CRLF', crlf],
    ['LF', (v: string) => v],
  ] as const) {
    it(`${eol}: parts, heads, and the line end before a boundary that is no content`, () => {
      const { parts, code } = scan(text(form('--B\nContent-Type: a/b\nContent-ID: <1>\n\none\n--B\n\ntwo\n\n--B--\n')));
      expect(code).toBe('whole');
      expect(parts.map((p) => p.content.toString())).toEqual(['one', form('two\n')]);
      expect(parts[0]!.fields).toEqual([
        ['Content-Type', 'a/b'],
        ['Content-ID', '<1>'],
      ]);
      expect(parts[1]!.fields).toEqual([]);
    });
    it(`${eol}: empty parts`, () => {
      expect(contents(form('--B\nA: b\n\n--B\n\n\n--B--'))).toEqual(['', '']);
    });
    it(`${eol}: preamble, byte order mark, blanks behind a boundary, epilogue`, () => {
      expect(contents(form('this is\nMIME -B\n--B \t\n\none\n--B--  \nepilogue\n--B\n\nnot a part'))).toEqual(['one']);
      expect(contents(form('\u00ef\u00bb\u00bf\n--B\n\none\n--B--'))).toEqual(['one']);
      expect(contents(form('\u00ef\u00bb\u00bf--B\n\none\n--B--'))).toEqual(['one']);
      expect(contents(form('\n\n--B\n\none\n--B--'))).toEqual(['one']);
    });
    it(`${eol}: folded header lines`, () => {
      const { parts } = scan(text(form('--B\nContent-ID:\n <root@x>\nContent-Type: a/b;\n\tc=d\n\n\n--B--')));
      expect(parts[0]!.fields).toEqual([
        ['Content-ID', '<root@x>'],
        ['Content-Type', 'a/b; c=d'],
      ]);
    });
  }

  it('a package whose last line end is missing is whole: phase4 processes it, so we must too (measured)', () => {
    expect(contents(crlf('--B\n\none\n--B--'))).toEqual(['one']);
  });

  it('one that lacks any byte of its closing boundary is not', () => {
    for (const cut of ['', '\r', '\r\n', '\r\n-', '\r\n--', '\r\n--B', '\r\n--B-', '\r\n--B\r\n']) {
      expect(contents(`--B\r\n\r\none${cut}`)).toBe('MIME_BROKEN');
    }
  });

  it('carriage returns, dashes and beginnings of the boundary are content', () => {
    const tricky = 'a\r\r\n--\r\n-B\n--b\r--B\r\n--\r\n \r\n--C\r';
    expect(contents(`--B\r\n\r\n${tricky}\r\n--B--`)).toEqual([tricky]);
  });

  it('boundaries that hold dashes, blanks and regular expression characters', () => {
    for (const boundary of ['--', '=_.+?', "'()+_,-./:=? x", '----=_Part_0_1.2']) {
      expect(contents(`--${boundary}\r\n\r\n--\r\n\r\n--${boundary}--`, { boundary })).toEqual(['--\r\n']);
    }
  });
});

describe('what is refused', () => {
  const broken: Record<string, string> = {
    'no boundary at all': 'hello',
    'another boundary': '--C\r\n\r\n\r\n--C--',
    'a header line without a name': '--B\r\nhello\r\n\r\n--B--',
    'a header name with a blank in it': '--B\r\nContent Type: x\r\n\r\n\r\n--B--',
    'a first header line that begins with white space': '--B\r\n Content-Type: x\r\n\r\n\r\n--B--',
    'headers without an empty line before the next boundary': '--B\r\nA: b\r\n--B--\r\n\r\n\r\n--B--',
    'a carriage return in a header line, behind which some receivers see another field':
      '--B\r\nX: a\rContent-Transfer-Encoding: base64\r\n\r\n\r\n--B--',
    'a NUL in a header line': '--B\r\nX: a\0\r\n\r\n\r\n--B--',
    'two transfer encodings':
      '--B\r\nContent-Transfer-Encoding: binary\r\nContent-Transfer-Encoding: base64\r\n\r\n\r\n--B--',
    'two Content-IDs': '--B\r\nContent-ID: <a>\r\ncontent-id: <b>\r\n\r\n\r\n--B--',
    'an unknown transfer encoding': '--B\r\nContent-Transfer-Encoding: uuencode\r\n\r\n\r\n--B--',
    'a line that begins with the boundary and goes on': '--B\r\n\r\none\r\n--Bx\r\n\r\n--B--',
    // a receiver that looks for the boundary alone, or for CRLF around it, would take another part for the root
    'the boundary within a line of the preamble': 'a\r\nb --B\r\n\r\none\r\n--B\r\n\r\ntwo\r\n--B--',
    'a first boundary line that ends in LF, another one in CRLF': '--B\n\none\r\n--B\r\n\r\ntwo\r\n--B--',
    'a first boundary behind LF that ends in CRLF': 'a\n--B\r\n\r\none\r\n--B--',
    'a boundary that an MSH with a laxer parser would see in the root part': '--B\r\n\r\none\r\n--B\rX\r\n--B--',
  };
  for (const [why, value] of Object.entries(broken))
    it(`refuses ${why}`, () => expect(contents(value)).toBe('MIME_BROKEN'));

  it('a package of no parts is for the reader of the root part to refuse', () => {
    expect(contents('--B--')).toEqual([]);
  });

  it('a bare colon in a header value is a header value', () => {
    expect(contents('--B\r\nContent-Type: a/b:\r\nX::\r\n\r\none\r\n--B--')).toEqual(['one']);
  });

  it('a start parameter that names another part than the first', () => {
    const value = crlf('--B\nContent-ID: <a@x>\n\none\n--B\nContent-ID: <b@x>\n\ntwo\n--B--');
    for (const start of ['<a@x>', 'a@x', 'a%40x', ' <a@x> '])
      expect(contents(value, { start })).toEqual(['one', 'two']);
    for (const start of ['<b@x>', 'b@x', '<c@x>']) expect(contents(value, { start })).toBe('MIME_START');
    const nameless = crlf('--B\n\none\n--B\nContent-ID: <b@x>\n\ntwo\n--B--');
    expect(contents(nameless, { start: '<root@x>' })).toEqual(['one', 'two']);
    expect(contents(nameless, { start: '<b@x>' })).toBe('MIME_START');
  });

  it('more parts or longer headers than the limits', () => {
    const many = (n: number): Uint8Array[] => text(`${'--B\r\n\r\nx\r\n'.repeat(n)}--B--`);
    expect(scan(many(5), {}, { parts: 5 }).code).toBe('whole');
    expect(scan(many(6), {}, { parts: 5 }).code).toBe('TOO_MANY_PARTS');
    const long = (n: number): Uint8Array[] => text(`--B\r\nA: ${'x'.repeat(n)}\r\n\r\n\r\n--B--`);
    expect(scan(long(90), {}, { partHeaders: 100 }).code).toBe('whole');
    expect(scan(long(100), {}, { partHeaders: 100 }).code).toBe('MIME_BROKEN');
    expect(
      scan([...text('--B\r\n'), ...Array.from({ length: 200 }, () => Buffer.from('x'))], {}, { partHeaders: 100 }).code,
    ).toBe('MIME_BROKEN');
    expect(scan(text(`--B${' '.repeat(2_000)}\r\n\r\n\r\n--B--`)).code).toBe('MIME_BROKEN');
  });
});

describe('content transfer encodings', () => {
  const part = (encoding: string, content: string): string =>
    `--B\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${content}\r\n--B--`;
  it('base64, with line ends, padding or without it', () => {
    expect(contents(part('Base64', 'aGVs\r\nbG8='))).toEqual(['hello']);
    expect(contents(part('base64', 'aGVsbG8'))).toEqual(['hello']);
    expect(contents(part('base64', ''))).toEqual(['']);
    for (const cut of ['a', 'aGV$', 'aGVsbG8=x', 'aGVsb===']) expect(contents(part('base64', cut))).toBe('MIME_BROKEN');
  });
  it('quoted-printable: escapes, soft line ends, padding', () => {
    expect(contents(part('quoted-printable', 'a=3Db=\r\nc  \r\nd=e9 =\r\n'))).toEqual(['a=bc\r\nd\u00e9 ']);
    for (const cut of ['a=3', 'a=x1b', 'a=3xb', 'a= b'])
      expect(contents(part('quoted-printable', cut))).toBe('MIME_BROKEN');
  });
  it('binary, 7bit and 8bit change nothing', () => {
    for (const encoding of ['binary', '7bit', '8BIT', '']) expect(contents(part(encoding, 'a=3D'))).toEqual(['a=3D']);
  });
  it('are left alone where the caller wants the bytes of the package', () => {
    expect(contents(part('base64', 'aGVsbG8='), { decode: false })).toEqual(['aGVsbG8=']);
  });
  it('give the same bytes for every split', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.constantFrom('base64', 'quoted-printable'),
        fc.nat(40),
        (bytes, encoding, size) => {
          const coded =
            encoding === 'base64'
              ? Buffer.from(bytes).toString('base64')
              : [...bytes].map((b) => `=${b.toString(16).toUpperCase().padStart(2, '0')}`).join('');
          const whole = Buffer.from(part(encoding, coded));
          expect(scan(split(whole, size + 1)).parts[0]!.content).toEqual(Buffer.from(bytes));
        },
      ),
    );
  });
});

function split(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

describe('any split of the body gives the same parts', () => {
  const sample = Buffer.from(
    '\u00ef\u00bb\u00bfpre\r\n--B\r\nContent-ID: <a>\r\n\r\n<x/>\r\n\r--\r\n--b\r\n--B \r\nContent-Transfer-Encoding: base64\r\n\r\naGVs\nbG8=\n--B\r\n\r\n\r\n--B--\r\nepi',
    'latin1',
  );
  const whole = scan([sample]);

  it('the boundary within a line of the preamble is seen however it is cut', () => {
    const bad = Buffer.from('pre --B\r\n--B\r\n\r\n\r\n--B--', 'latin1');
    for (let at = 0; at <= bad.length; at++)
      expect(scan([bad.subarray(0, at), bad.subarray(at)]).code).toBe('MIME_BROKEN');
  });

  it('cut in two at every offset', () => {
    expect(whole.code).toBe('whole');
    expect(whole.parts).toHaveLength(3);
    for (let at = 0; at <= sample.length; at++)
      expect(scan([sample.subarray(0, at), sample.subarray(at)])).toEqual(whole);
  });

  it('cut in three at every pair of offsets', () => {
    for (let a = 0; a <= sample.length; a++) {
      for (let b = a; b <= sample.length; b += 3) {
        expect(
          scan([sample.subarray(0, a), sample.subarray(a, b), sample.subarray(b)]).parts.map((p) => p.content),
        ).toEqual(whole.parts.map((p) => p.content));
      }
    }
  });

  it('byte by byte, and from one buffer that is written over after each call', () => {
    const parts: string[] = [];
    const scanner = new MimeScanner(
      {
        head: () => parts.push(''),
        data: (bytes) => parts.push(parts.pop()! + Buffer.from(bytes).toString('latin1')),
        end: () => undefined,
      },
      { boundary: 'B' },
      LIMITS,
    );
    const reused = Buffer.alloc(1);
    for (const byte of sample) {
      reused[0] = byte;
      scanner.push(reused);
      reused.fill(0x21);
    }
    scanner.end();
    expect(parts).toEqual(whole.parts.map((p) => p.content.toString('latin1')));
  });

  it('random parts over random cuts come back as they were', () => {
    const nasty = fc
      .array(fc.constantFrom('\r', '\n', '\r\n', '-', '--', '--B', '--b', 'B', 'x', '\0', 'ÿ'), { maxLength: 12 })
      .map((a) => a.join(''));
    const harmless = nasty.filter((content) => !`\n${content}\n`.includes('\n--B'));
    fc.assert(
      fc.property(
        fc.array(harmless, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (bodies, sizes) => {
          const bytes = Buffer.from(`${bodies.map((b) => `--B\r\nA: b\r\n\r\n${b}\r\n`).join('')}--B--\r\n`, 'latin1');
          const chunks: Buffer[] = [];
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = sizes[i % sizes.length]!;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          const { parts, code } = scan(chunks);
          expect(code).toBe('whole');
          expect(parts.map((p) => p.content.toString('latin1'))).toEqual(bodies);
          expect(parts.every((p) => p.ended)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('mutations are read or refused, never both, and end', () => {
    fc.assert(
      fc.property(fc.nat(sample.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(20), (at, byte, size) => {
        const bytes = Buffer.from(sample);
        bytes[at] = byte;
        const once = scan([bytes]);
        const cut = scan(split(bytes, size + 1));
        expect(cut.code).toBe(once.code);
        if (once.code === 'whole') expect(cut.parts).toEqual(once.parts);
      }),
      { numRuns: 1_000 },
    );
  });
});
