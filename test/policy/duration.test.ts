import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { formatDuration, LONGEST, parseDuration } from '../../src/policy/duration.js';
import { formatSize, parseSize } from '../../src/policy/size.js';
import { parseWindow } from '../../src/policy/window.js';

const DAY = 86_400_000;

describe('durations', () => {
  it.each([
    ['90d', 90 * DAY], ['1y', 365 * DAY], ['12h', 12 * 3_600_000], ['10m', 600_000], ['20s', 20_000], ['500ms', 500],
    ['2w', 14 * DAY], ['1.5h', 5_400_000], ['90 d', 90 * DAY], ['0', 0], ['0s', 0], [' 7d ', 7 * DAY],
    ['P90D', 90 * DAY], ['PT10M', 600_000], ['P1M', 30 * DAY], ['P1Y', 365 * DAY], ['P1DT12H', 1.5 * DAY], ['PT0.5S', 500], ['P2W', 14 * DAY],
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '90', '-1d', '1M', '7D', '1e3s', 'd', '1 day', 'P', 'PT', 'P1', 'P1DT', 'PD', '1d2h', '٣d', '1.d', 'P-1D', '200y', '1constructor'])(
    'refuses %j', (text) => expect(() => parseDuration(text)).toThrow(As4OnceError));

  it('says that a bare number needs a unit', () => {
    expect(() => parseDuration('90')).toThrow(/a number needs a unit/);
  });

  it('reads what it writes', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: LONGEST }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }));
  });

  it('never takes long over hostile text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 5_000 }), (text) => {
      try {
        expect(parseDuration(text)).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(As4OnceError);
      }
    }));
    expect(() => parseDuration(`P${'1'.repeat(1_000_000)}`)).toThrow(As4OnceError);
  });
});

describe('sizes', () => {
  it.each([
    ['1 MiB', 1_048_576], ['10Mb', 10_485_760], ['256KiB', 262_144], ['256 kb', 262_144], ['500 B', 500], ['8 GiB', 8 * 1_024 ** 3],
    ['1.5 MiB', 1_572_864], ['2TB', 2 * 1_024 ** 4], ['0', 0],
  ])('reads %s', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(['', '10', '10M', '-1 MiB', '1 ib', '1 EiB', 'MiB', '1,5 MiB', '999999999999 TiB'])(
    'refuses %j', (text) => expect(() => parseSize(text)).toThrow(As4OnceError));

  it('are shown in the largest unit that fits', () => {
    expect([0, 255, 1_024, 1_572_864, 8 * 1_024 ** 3].map(formatSize)).toEqual(['0 B', '255 B', '1 KiB', '1.5 MiB', '8 GiB']);
  });
});

describe('windows', () => {
  it('are durations', () => {
    expect(parseWindow('90d')).toEqual({ ms: 90 * DAY });
    expect(parseWindow('P90D')).toEqual({ ms: 90 * DAY });
  });

  // AS4 3.2 and 5.2.4 give one example and a grammar; separators, case and white space are where products differ.
  it.each([
    ['maxsize=10Mb,checkwindow=7D', { ms: 7 * DAY, maxSize: 10_485_760 }],
    ['checkwindow=7D;maxsize=10Mb', { ms: 7 * DAY, maxSize: 10_485_760 }],
    [' CheckWindow = 7d ', { ms: 7 * DAY }],
    ['checkwindow=P7D', { ms: 7 * DAY }],
    ['checkwindow=PT10M', { ms: 600_000 }],
    ['checkwindow=5y', { ms: 5 * 365 * DAY }],
    ['maxsize=256kb;checkwindow=12H', { ms: 12 * 3_600_000, maxSize: 262_144 }],
  ])('are read from the P-Mode string %s', (text, window) => expect(parseWindow(text)).toEqual(window));

  it.each([
    ['maxsize=10Mb', /checkwindow is missing/],
    ['checkwindow=7M', /minutes or months/],
    ['checkwindow=7D,checkwindow=8D', /given twice/],
    ['checkwindow=7D,maxretries=10', /neither maxsize nor checkwindow/],
    ['checkwindow=0D', /longer than zero/],
    ['maxsize=0b,checkwindow=7D', /more than zero/],
    ['checkwindow=-7D', /not a duration/],
    ['checkwindow=7D,', /not name=value/],
    ['checkwindow==7D', /not name=value/],
    ['checkwindow=', /not name=value/],
    ['0', /longer than zero/],
  ])('refuse %j', (text, why) => expect(() => parseWindow(text)).toThrow(why));
});
