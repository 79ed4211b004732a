import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { JsonValues, MalformedBody } from '../../src/reference/json-values.js';

function values(text: string | Buffer, pointers: readonly string[], cuts: readonly number[] = []): (string | undefined)[] {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const reader = new JsonValues(pointers, 64);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  ends.forEach((end, i) => reader.push(bytes.subarray(i === 0 ? 0 : ends[i - 1], end)));
  const at = reader.end();
  return pointers.map((pointer) => at(pointer));
}

/** RFC 6901 over what JSON.parse makes of the text. */
function byPointer(value: unknown, pointer: string): unknown {
  return pointer.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).reduce<unknown>((inner, step) =>
    (typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step) ? (inner as Record<string, unknown>)[step] : undefined), value);
}

describe('values of a JSON body', () => {
  it('are found by pointer, numbers as they are written', () => {
    const text = ' {"id":"a\\u00e4\\n\\"b","n":[10,{"x~/y":1.50e3}],"t":true,"z":null,"o":{"id":"other"},"e":""} ';
    expect(values(text, ['/id', '/n/0', '/n/1/x~0~1y', '/t', '/z', '/o', '/o/id', '/none', '/e'])).toEqual(
      ['aä\n"b', '10', '1.50e3', 'true', undefined, undefined, 'other', undefined, undefined]);
  });

  it('agree with JSON.parse on whatever it reads, however the bytes are split', () => {
    const json = fc.json({ maxDepth: 4 });
    fc.assert(fc.property(fc.dictionary(fc.string({ maxLength: 6 }), json, { maxKeys: 4 }), fc.array(fc.nat(), { maxLength: 6 }), (members, cuts) => {
      const text = `{${Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(' , ')}}`;
      const parsed: unknown = JSON.parse(text);
      const pointers = Object.keys(members).map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      const found = values(text, pointers, cuts);
      pointers.forEach((pointer, i) => {
        const meant = byPointer(parsed, pointer);
        if (typeof meant === 'string' && meant !== '') expect(found[i]).toBe(meant);
        else if (typeof meant === 'number') expect(Number(found[i])).toBe(meant);
        else if (typeof meant === 'boolean') expect(found[i]).toBe(String(meant));
        else expect(found[i]).toBeUndefined();
      });
    }), { numRuns: 500 });
  });

  it('accept exactly the texts that JSON.parse accepts', () => {
    const near = fc.oneof(fc.json(), fc.tuple(fc.json(), fc.nat(), fc.constantFrom('"', '{', '}', '[', ']', ',', ':', '\\', '0', '-', '.', 'e', ' ', 't', '\u0001'), fc.nat({ max: 3 }))
      .map(([text, at, insert, remove]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + insert + text.slice(place + remove);
      }));
    fc.assert(fc.property(near, fc.array(fc.nat(), { maxLength: 4 }), (text, cuts) => {
      const accepts = (read: () => unknown): boolean => {
        try {
          read();
          return true;
        } catch {
          return false;
        }
      };
      expect(accepts(() => values(text, ['/none/at/all'], cuts)), text).toBe(accepts(() => JSON.parse(text)));
    }), { numRuns: 3_000 });
  });

  it.each([
    ['{"id":1,"id":1}', '/id'], ['{"a":{"id":1},"a":{}}', '/a/id'], ['{"a":{},"a":{"id":1}}', '/a/id'], ['{"a":1,"\\u0061":2}', '/a'],
  ])('that stand there twice are refused, since parsers differ in which they take: %s', (text, pointer) => {
    expect(() => values(text, [pointer])).toThrow(As4OnceError);
    expect(() => values(text, [pointer])).not.toThrow(MalformedBody);
    expect(values(text, ['/other'])).toEqual([undefined]);
  });

  it('cost no memory for what nobody asks for, and are bounded', () => {
    const reader = new JsonValues(['/id'], 64);
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    reader.push(Buffer.from('{"blob":"'));
    for (let i = 0; i < 32; i += 1) reader.push(chunk);
    reader.push(Buffer.from('","id":"7"}'));
    expect(reader.end()('/id')).toBe('7');
    expect(() => values(`{"id":"${'x'.repeat(5_000)}"}`, ['/id'])).toThrow(/longer than 4096/);
    expect(() => values('['.repeat(65), ['/id'])).toThrow(/deeper than 64/);
    expect(() => values(Buffer.from('{"id":"\xff"}', 'latin1'), ['/id'])).toThrow(/not UTF-8/);
  });
});
