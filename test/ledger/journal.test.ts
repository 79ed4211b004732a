import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { openJournal } from '../../src/ledger/journal.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import type { Settle } from '../../src/ledger/port.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/index.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

const folders: TempDir[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});
const folder = (): string => {
  const made = tempDir('journal');
  folders.push(made);
  return made.path;
};
const settleOf = (name: string): Settle => sampleAttempt(sampleClaim(sampleKey(name), `token ${name}`)).settle(name, { beganMsAgo: 1_000 });

describe('the journal', () => {
  it('settles its entries with their old tokens, once the ledger is back, and is empty then', async () => {
    const directory = folder();
    const clock = simulatedClock();
    const journal = openJournal({ directory, clock });
    const entry = settleOf('one');
    await journal.append(entry);
    await journal.append(settleOf('two'));
    const down = { settle: () => Promise.reject(new As4OnceError('LEDGER_DOWN', 'as the test wants')) };
    await expect(journal.drain(down)).rejects.toThrow('LEDGER_DOWN');
    expect(await journal.count()).toBe(2);

    const ledger = memoryLedger({ clock });
    await ledger.claim(entry.claim);
    await clock.advance(60_000);
    const closed: string[] = [];
    await journal.drain(ledger, ({ token }, answer) => closed.push(`${token}: ${answer}`));
    expect(closed.toSorted()).toEqual(['token one: ok', 'token two: ok']);
    expect(readdirSync(directory)).toEqual([]);
    const record = (await ledger.find(entry.key))?.record;
    expect(record?.state).toBe('settled');
    expect(record?.reply).toEqual(entry.reply);
    const absent = await ledger.find(sampleKey('two'));
    expect((absent?.now ?? 0) - (absent?.record.born ?? 0)).toBe(61_000);
  });

  it('closes an entry whose record was settled by another Receipt meanwhile', async () => {
    const journal = openJournal({ directory: folder() });
    const ledger = memoryLedger();
    const entry = settleOf('one');
    await journal.append(entry);
    await ledger.settle({ ...settleOf('one'), token: 'other', reply: settleOf('faster').reply });
    const closed: string[] = [];
    await journal.drain(ledger, (_, answer) => closed.push(answer));
    expect(closed).toEqual(['stale']);
    expect(await journal.count()).toBe(0);
  });

  it('survives SIGKILL of its process and is adopted by another one of the host', async () => {
    const directory = folder();
    const child = spawn(process.execPath, ['--input-type=module', '-e', `
      import { openJournal } from '${new URL('../../dist/src/ledger/journal.js', import.meta.url).href}';
      const journal = openJournal({ directory: ${JSON.stringify(directory)} });
      await journal.append(${JSON.stringify({ ...settleOf('killed'), reply: { ...settleOf('killed').reply, deflated: [1, 2, 3] } })});
      // it dies in the middle of a drain, holding the lock of the entry
      await journal.drain({ settle: () => { console.log('locked'); return new Promise(() => setTimeout(() => {}, 60_000)); } });
    `], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(readdirSync(directory)[0]).toContain('~');
    const journal = openJournal({ directory });
    const seen: string[] = [];
    const ledger = memoryLedger();
    await journal.drain(ledger, ({ token }) => seen.push(token));
    expect(seen).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await journal.drain(ledger, ({ token }) => seen.push(token));
    expect(seen).toEqual(['token killed']);
    expect((await ledger.find(sampleKey('killed')))?.record.reply?.deflated).toEqual(new Uint8Array([1, 2, 3]));
  });

  it('is drained once where several drain at the same time', async () => {
    const directory = folder();
    const journals = [openJournal({ directory }), openJournal({ directory })];
    for (let i = 0; i < 30; i += 1) await journals[0]?.append(settleOf(`entry ${i}`));
    const ledger = memoryLedger();
    const closed: string[] = [];
    await Promise.all(journals.map((journal) => journal.drain(ledger, ({ token }) => closed.push(token))));
    expect(closed.length).toBe(30);
    expect(new Set(closed).size).toBe(30);
  });

  it('sets a damaged entry aside and goes on with the others', async () => {
    const directory = folder();
    const told: string[] = [];
    const journal = openJournal({ directory, broken: (file) => told.push(file) });
    await journal.append(settleOf('damaged'));
    const [name = ''] = readdirSync(directory);
    writeFileSync(join(directory, name), readFileSync(join(directory, name), 'utf8').replace('"status":200', '"status":500'));
    await journal.append(settleOf('whole'));
    const closed: string[] = [];
    await journal.drain(memoryLedger(), ({ token }) => closed.push(token));
    expect(closed).toEqual(['token whole']);
    expect(told).toEqual([name]);
    expect(readdirSync(directory)).toEqual([`${name}.unreadable`]);
  });

  it('says that it cannot be written, and leaves nothing half-written', async () => {
    const directory = folder();
    const journal = openJournal({ directory: join(directory, 'gone') });
    rmSync(join(directory, 'gone'), { recursive: true });
    await expect(journal.append(settleOf('lost'))).rejects.toThrow('LEDGER_FULL');
  });
});
