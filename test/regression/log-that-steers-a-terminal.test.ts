// A MessageId may hold any character of XML. JSON escapes the C0 controls and leaves DEL, the C1 controls (U+009B begins
// an escape sequence in a terminal), line separators and the marks that turn text round: whoever read the log with
// `tail` read what the sender wanted him to read.
import { describe, expect, it } from 'vitest';
import { attachLog } from '../../src/admin/log.js';
import { Events } from '../../src/events.js';

describe('the log', () => {
  it('escapes whatever a terminal obeys, and stays the same JSON', () => {
    const lines: string[] = [];
    const events = new Events();
    attachLog(events, { level: 'info', destination: { write: (line: string) => void lines.push(line) } });
    const messageId = 'a\u001b[2J\u007f\u0085\u009b31m\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069 \u00e4\u20ac\u{1f600}';
    events.emit('held', { key: 'k', messageId, reason: 'noSignal' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
    expect(JSON.parse(lines[0]!)).toMatchObject({ event: 'held', messageId });
    expect(lines[0]).toContain('\u00e4\u20ac\u{1f600}');
  });
});
