import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pick, remainder, shares, type Range } from '../../src/edi/cut.js';
import { interchangesOf } from '../../src/edi/read-interchanges.js';
import { bytes, edifact } from './samples.js';

async function picked(file: Buffer, ranges: readonly Range[], size = 7): Promise<string> {
  async function* stream(): AsyncIterable<Uint8Array> {
    for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
  }
  const parts: Uint8Array[] = [];
  for await (const part of pick(stream(), ranges)) parts.push(part);
  return Buffer.concat(parts).toString('latin1');
}

describe('cutting a file', () => {
  const [a, b, c] = [edifact('1', { una: "UNA:+.? '\r\n" }), edifact('2'), edifact('3')];
  const text = `\xef\xbb\xbf${a}\r\n${b}\n  ${c}\r\n\r\n`;
  const file = bytes(text);
  const found = interchangesOf(file);
  const cut = (...drop: number[]): Promise<string> => picked(file, remainder(found, file.length, (index) => drop.includes(index)));

  it('keeps every byte of what is not cut out', async () => {
    expect(await cut()).toBe(text);
    expect(await cut(0)).toBe(`\xef\xbb\xbf${b}\n  ${c}\r\n\r\n`);
    expect(await cut(1)).toBe(`\xef\xbb\xbf${a}\r\n${c}\r\n\r\n`);
    expect(await cut(2)).toBe(`\xef\xbb\xbf${a}\r\n${b}\n  `);
    expect(await cut(0, 2)).toBe(`\xef\xbb\xbf${b}\n  `);
    expect(await cut(0, 1, 2)).toBe('\xef\xbb\xbf');
  });

  it('leaves an interchange its own bytes, whatever was cut around it', async () => {
    const left = interchangesOf(bytes(await cut(1)));
    expect(left.map(({ sha256 }) => sha256)).toEqual([found[0]?.sha256, found[2]?.sha256]);
  });

  it('shares out the whole file', async () => {
    const parts = await Promise.all(shares(found, file.length).map((share) => picked(file, [share])));
    expect(parts).toEqual([`${a}\r\n`, `${b}\n  `, `${c}\r\n\r\n`]);
  });

  it('picks the same bytes however the stream is split', async () => {
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), fc.integer({ min: 1, max: 50 }), async (content, edges, size) => {
      const sorted = [...new Set(edges)].sort((x, y) => x - y);
      const ranges = sorted.flatMap((start, i) => (i % 2 === 0 && sorted[i + 1] !== undefined ? [{ start, end: sorted[i + 1] as number }] : []));
      const whole = Buffer.from(content);
      expect(await picked(whole, ranges, size)).toBe(ranges.map(({ start, end }) => whole.subarray(start, end).toString('latin1')).join(''));
    }));
  });
});
