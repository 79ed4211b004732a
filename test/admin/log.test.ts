import { expect, it } from 'vitest';
import { attachLog } from '../../src/admin/log.js';
import { Events } from '../../src/events.js';

it('writes times in one way: firstSeen was a number of milliseconds in the lines of events, and ISO 8601 in those of exchanges', () => {
  const lines: Record<string, unknown>[] = [];
  const events = new Events();
  attachLog(events, { level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) } });
  const firstSeen = Date.UTC(2026, 10, 30, 12);
  events.emit('mismatch', { key: 'k', messageId: 'm', firstSeen });
  events.emit('late', { key: 'k', messageId: 'm', firstSeen });
  expect(lines.map((line) => [line['event'], line['firstSeen']])).toEqual([
    ['mismatch', '2026-11-30T12:00:00.000Z'],
    ['late', '2026-11-30T12:00:00.000Z'],
  ]);
});
