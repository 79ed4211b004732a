import { describe, expect, it } from 'vitest';
import { GROUP_OF } from '../../src/admin/answer-groups.js';
import { Rates } from '../../src/admin/rates.js';
import { Events, type AnswerName, type ExchangeEvent } from '../../src/events.js';
import { simulatedClock } from '../support/simulated-clock.js';

const MINUTE = 60_000;

function counting() {
  const clock = simulatedClock();
  const events = new Events();
  const rates = new Rates(events, clock);
  const exchange = (answer: AnswerName, more: Partial<ExchangeEvent> = {}): void =>
    events.emit('exchange', { answer, status: 200, ms: 1, bytes: 1, node: 'n', route: '/', peer: '', ...more });
  return { clock, rates, exchange };
}

describe('rates', () => {
  it('count each answer over a minute, five minutes, an hour and since the start', async () => {
    const { clock, rates, exchange } = counting();
    for (let i = 0; i < 3; i += 1) exchange('first');
    await clock.advance(2 * MINUTE);
    exchange('first');
    exchange('replay');
    expect(rates.answers()).toEqual([
      { answer: 'first', group: 'delivered', total: 4, lastMinute: 1, last5Minutes: 4, lastHour: 4 },
      { answer: 'replay', group: 'repeated', total: 1, lastMinute: 1, last5Minutes: 1, lastHour: 1 },
    ]);
    await clock.advance(30 * MINUTE);
    expect(rates.answers().map(({ last5Minutes, lastHour }) => [last5Minutes, lastHour])).toEqual([[0, 4], [0, 1]]);
    await clock.advance(31 * MINUTE);
    expect(rates.answers().map(({ total, lastHour }) => [total, lastHour])).toEqual([[4, 0], [1, 0]]);
  });

  it('give the last hour minute by minute, the newest last, and lose nothing between the minutes', async () => {
    const { clock, rates, exchange } = counting();
    for (let minute = 0; minute < 70; minute += 1) {
      for (let i = 0; i <= minute; i += 1) exchange(i === 0 ? 'replay' : 'first');
      await clock.advance(MINUTE);
    }
    const minutes = rates.minutes();
    expect(minutes).toHaveLength(60);
    // the running minute is still empty, the one before it had 70 messages
    expect(minutes.at(-1)).toMatchObject({ delivered: 0, repeated: 0 });
    expect(minutes.at(-2)).toMatchObject({ delivered: 69, repeated: 1 });
    expect(minutes[0]).toMatchObject({ delivered: 11, repeated: 1 });
    expect(minutes.map(({ at }) => at)).toEqual(minutes.map((_, i) => (minutes[0]?.at ?? 0) + i * MINUTE));
    expect(minutes.at(-1)?.at).toBe(clock.now());
  });

  it('know every answer of the walk', () => {
    const answers: AnswerName[] = ['first', 'redelivery', 'late', 'resend', 'replay', 'waited', 'busy', 'refused', 'mismatch', 'held', 'passed', 'forwarded', 'unavailable', 'failed'];
    expect(Object.keys(GROUP_OF).sort()).toEqual([...answers].sort());
  });

  it('keep one line for each configured partner and one for everybody else', () => {
    const { rates, exchange } = counting();
    for (let i = 0; i < 100; i += 1) exchange('first', { from: `stranger ${i}` });
    exchange('replay', { partner: 'Acme' });
    const lines = rates.partners();
    expect(lines.map(({ partner, total }) => [partner, total])).toEqual([[null, 100], ['Acme', 1]]);
    expect(lines[1]?.groups).toMatchObject({ delivered: 0, repeated: 1 });
  });

  it('take bounded memory however long they count', async () => {
    const { clock, rates, exchange } = counting();
    for (let i = 0; i < 2_000; i += 1) {
      exchange('first');
      await clock.advance(10_000);
    }
    expect(rates.answers()[0]).toMatchObject({ total: 2_000, lastHour: 359 });
  });
});
