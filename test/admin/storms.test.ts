import { describe, expect, it } from 'vitest';
import { STORM_COPIES, STORM_WITHIN, Storms } from '../../src/admin/storms.js';
import { Events, type EventMap, type ExchangeEvent } from '../../src/events.js';
import { simulatedClock } from '../support/simulated-clock.js';

function watching() {
  const clock = simulatedClock();
  const events = new Events();
  const told: EventMap['storm'][] = [];
  events.on('storm', (event) => told.push(event));
  const storms = new Storms(events, clock);
  const copy = (key: string, answer: ExchangeEvent['answer'] = 'replay', more: Partial<ExchangeEvent> = {}): void =>
    events.emit('exchange', { answer, key, messageId: `${key}@x`, status: 200, ms: 1, bytes: 1, node: 'n', route: '/', peer: '', ...more });
  return { clock, storms, told, copy };
}

describe('a storm', () => {
  it('is a message that comes again and again after its answer', async () => {
    const { clock, storms, told, copy } = watching();
    copy('a', 'first');
    for (let i = 1; i < STORM_COPIES; i += 1) {
      await clock.advance(60_000);
      copy('a', 'replay', { copies: i, from: 'POP1', partner: 'Acme' });
    }
    expect(storms.list()).toEqual([]);
    await clock.advance(60_000);
    copy('a', 'replay', { copies: STORM_COPIES, from: 'POP1', partner: 'Acme' });
    expect(storms.list()).toEqual([{
      key: 'a', messageId: 'a@x', kind: 'unaccepted', partner: 'Acme', from: 'POP1', copies: STORM_COPIES, copiesEver: STORM_COPIES,
      since: clock.now() - (STORM_COPIES - 1) * 60_000, last: clock.now(),
    }]);
    expect(told).toEqual([{ key: 'a', messageId: 'a@x', partner: 'Acme', copies: STORM_COPIES, withinMs: STORM_WITHIN }]);
  });

  it('is told once an hour and not with each copy, and ends when the copies end', async () => {
    const { clock, storms, told, copy } = watching();
    for (let i = 0; i < 100; i += 1) copy('a');
    expect(told).toHaveLength(1);
    await clock.advance(STORM_WITHIN + 1);
    expect(storms.list()).toEqual([]);
    for (let i = 0; i < STORM_COPIES; i += 1) copy('a');
    expect(told).toHaveLength(2);
  });

  it('is not what a sender does who was asked to come again, nor one copy each of many messages', () => {
    const { storms, told, copy } = watching();
    for (let i = 0; i < 50; i += 1) {
      copy('held', 'held');
      copy('busy', 'busy');
      copy('waited', 'waited');
      copy(`single ${i}`);
    }
    expect(storms.list()).toEqual([]);
    expect(told).toEqual([]);
  });

  it('of a reused id says so, and the worst comes first', () => {
    const { storms, copy } = watching();
    for (let i = 0; i < STORM_COPIES; i += 1) copy('reused', 'mismatch');
    for (let i = 0; i < 9; i += 1) copy('worse');
    expect(storms.list().map(({ key, kind, copies }) => [key, kind, copies])).toEqual([['worse', 'unaccepted', 9], ['reused', 'reused', STORM_COPIES]]);
  });

  it('is still seen among many thousand other duplicates, with bounded memory', () => {
    const { storms, copy } = watching();
    for (let i = 0; i < 20_000; i += 1) {
      copy(`once ${i}`);
      if (i % 1_000 === 0) copy('a');
    }
    expect(storms.list().map(({ key, copies }) => [key, copies])).toEqual([['a', 20]]);
    for (let i = 0; i < 3_000; i += 1) copy('flood');
    expect(storms.list()[0]).toMatchObject({ key: 'flood', copies: 1_000 });
  });
});
