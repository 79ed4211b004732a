import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Events, type ExchangeEvent } from '../../src/events.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import type { Ledger } from '../../src/ledger/port.js';
import { readTallies } from '../../src/operate/read-tallies.js';
import { ANSWERS, csv, hourLines, shadowLines, summaryLines } from '../../src/operate/report.js';
import { HOUR, Tallies } from '../../src/operate/tally.js';
import { TallyWriter } from '../../src/operate/tally-writer.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

const START = Date.parse('2026-11-30T22:30:00Z');

describe('tallies', () => {
  let folder: TempDir;
  const clock = simulatedClock();
  let ledger: Ledger;
  let now = START;
  beforeEach(() => {
    folder = tempDir('tallies');
    ledger = memoryLedger({ clock });
    now = START;
  });
  afterEach(() => folder.remove());

  const process = (by: string, to: Pick<Ledger, 'note'> = ledger) => {
    const events = new Events();
    const writer = new TallyWriter(new Tallies(events, by, () => now), to, folder.path, by);
    const answer = (event: Partial<ExchangeEvent> = {}): void => {
      events.emit('arrived', { route: '/', at: now });
      events.emit('exchange', { at: now, answer: 'first', status: 200, ms: 5, bytes: 1, node: 'n', route: '/', peer: '::1', ...event });
    };
    return { events, writer, answer };
  };
  const read = () => readTallies(ledger, START - 24 * HOUR, START + 24 * HOUR);

  it('adds processes up, however often each writes what it knows', async () => {
    const [one, two] = [process('one'), process('two')];
    one.answer({ partner: 'P' });
    await one.writer.write();
    one.answer({ partner: 'P', answer: 'replay' });
    two.answer();
    for (const { writer } of [one, two, one]) await writer.write();
    expect(await read()).toEqual([
      { hour: Date.parse('2026-11-30T22:00:00Z'), partner: '', counts: { first: 1 } },
      { hour: Date.parse('2026-11-30T22:00:00Z'), partner: '*', counts: { arrived: 3 } },
      { hour: Date.parse('2026-11-30T22:00:00Z'), partner: 'P', counts: { first: 1, replay: 1 } },
    ]);
  });

  it('an exchange counts in the hour in which it arrived', async () => {
    const one = process('one');
    one.events.emit('arrived', { route: '/', at: now });
    now = START + HOUR;
    one.events.emit('exchange', { at: START, answer: 'first', status: 200, ms: HOUR - 1, bytes: 1, node: 'n', route: '/', peer: '' });
    await one.writer.write();
    expect((await read()).map(({ hour }) => new Date(hour).toISOString())).toEqual(Array(2).fill('2026-11-30T22:00:00.000Z'));
    expect(summaryLines(await read())[0]).toMatchObject({ arrived: 1, unanswered: 0 });
  });

  it('what was counted while the ledger was down, to the end of the process, is written by the next one, once', async () => {
    const down: Pick<Ledger, 'note'> = { note: async () => Promise.reject(new Error('down')) };
    const one = process('one', down);
    one.answer();
    expect(await one.writer.write()).toBe(false);
    one.answer();
    await one.writer.close();
    const next = process('two');
    await next.writer.adopt();
    await next.writer.adopt();
    expect(summaryLines(await read())[0]).toMatchObject({ arrived: 2, unanswered: 0 });
  });

  it('a message that nobody answered shows', async () => {
    const one = process('one');
    one.events.emit('arrived', { route: '/', at: now });
    one.answer();
    await one.writer.write();
    expect(summaryLines(await read())[0]).toMatchObject({ arrived: 2, unanswered: 1 });
  });

  it('shadow: what eliminate would have done, by partner', async () => {
    const one = process('one');
    const shadow = (answer: ExchangeEvent['answer'], would?: string, partner = 'P'): void => one.answer({ answer, mode: 'shadow', partner, ...(would === undefined ? {} : { would }) });
    shadow('first');
    shadow('resend');
    shadow('redelivery');
    shadow('forwarded', 'settled');
    shadow('forwarded', 'inFlight');
    shadow('forwarded', 'mismatch');
    shadow('forwarded', 'unknown', 'Q');
    shadow('passed', 'refuse', '');
    one.answer({ partner: 'R' });
    await one.writer.write();
    const lines = shadowLines(await read());
    expect(lines.map(({ partner }) => partner)).toEqual([undefined, '', 'P', 'Q']);
    expect(lines[0]).toMatchObject({ messages: 8, first: 1, duplicates: 2, mismatches: 1, resends: 1, uncertain: 1, refusals: 1, unknown: 1 });
    expect(lines[2]).toMatchObject({ partner: 'P', messages: 6, refusals: 0 });
  });

  // An exchange used to count at the time of its answer less its rounded duration: around a full hour that was another
  // hour than the one in which the door had counted it, and neither hour reconciled.
  it('reconciles whatever happens: each line is the sum of its columns', async () => {
    const answers = fc.constantFrom(...ANSWERS.filter((name) => name !== 'bypassed'));
    await fc.assert(fc.asyncProperty(fc.array(fc.record({ answer: answers, partner: fc.constantFrom('', 'P', 'Q'), bypass: fc.boolean(), minutes: fc.nat(50), by: fc.nat(2) }), { maxLength: 60 }), async (all) => {
      ledger = memoryLedger({ clock });
      now = START;
      const processes = [process('one'), process('two'), process('three')];
      for (const { answer, partner, bypass, minutes, by } of all) {
        processes[by]!.answer({ answer, ...(partner === '' ? {} : { partner }), ...(bypass ? { mode: 'bypass' } : {}) });
        now += minutes * 60_000;
        if (minutes > 30) await processes[by]!.writer.write();
      }
      for (const { writer } of processes) await writer.write();
      const tallies = await readTallies(ledger, START - 24 * HOUR, now + HOUR);
      const lines = [...hourLines(tallies), ...summaryLines(tallies)];
      for (const { arrived, unanswered, answers: columns } of lines) {
        expect(Object.values(columns).reduce((a, b) => a + b, 0) + unanswered).toBe(arrived);
      }
      expect(summaryLines(tallies)[0]!.arrived).toBe(all.length);
      const byHour = hourLines(tallies).filter(({ partner }) => partner === undefined).reduce((sum, { arrived }) => sum + arrived, 0);
      expect(byHour).toBe(all.length);
    }), { numRuns: 30 });
  });

  it('csv is RFC 4180, and a partner\'s name is no formula', async () => {
    const one = process('one');
    one.answer({ partner: '=HYPERLINK("x"), "y"' });
    await one.writer.write();
    const [head, all, partner] = csv(hourLines(await read())).split('\r\n');
    expect(head).toBe(`hour,partner,arrived,${ANSWERS.join(',')},unanswered`);
    expect(all).toMatch(/^2026-11-30T22:00:00\.000Z,\*,1,1,0/);
    expect(partner).toMatch(/^2026-11-30T22:00:00\.000Z,"'=HYPERLINK\(""x""\), ""y""",1,1,0/);
  });
});
