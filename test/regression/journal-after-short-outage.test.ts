// The journal was settled at start and whenever the ledger's health went from down to up. Health is looked at every ten
// seconds: an outage that began and ended between two looks left the reply in the journal until the next restart, and
// the record lapsed with its Receipt lying beside it. The same for a ledger that came up soon after the process did.
import { describe, expect, it } from 'vitest';
import { journalDrain } from '../../src/compose-journal.js';
import { As4OnceError } from '../../src/errors.js';
import { Events } from '../../src/events.js';
import { openJournal } from '../../src/ledger/journal.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir } from '../support/temp-dir.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/sample.js';

describe('the journal', () => {
  it('is settled as soon as the ledger answers again, whoever noticed that it was away', async () => {
    const clock = simulatedClock();
    const real = memoryLedger({ clock });
    let away = true;
    const settle: typeof real.settle = async (command) => {
      if (away) throw new As4OnceError('LEDGER_DOWN', 'away');
      return await real.settle(command);
    };
    const events = new Events();
    const closed: string[] = [];
    events.on('journalClosed', ({ messageId }) => closed.push(messageId));
    const folder = tempDir('journal');
    const journal = openJournal({ directory: folder.path, clock });
    const stop = new AbortController();
    const drain = journalDrain({ journal, ledger: { ...real, settle }, events, clock, pauseMs: 500, stop: stop.signal });
    const claim = sampleClaim(sampleKey('message@example.org'), 'token');
    await journal.append(sampleAttempt(claim).settle('first'));

    await drain();
    expect(await journal.count()).toBe(1);
    away = false;
    await clock.whenSleeping();
    await clock.advance(500);
    await journal.close();
    await drain();
    expect(closed).toEqual([claim.reference]);
    expect(await journal.count()).toBe(0);
    stop.abort();
    folder.remove();
  });
});
