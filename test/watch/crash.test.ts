import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { interchangesOf } from '../../src/edi/read-interchanges.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { edifact } from '../edi/samples.js';
import { ROOT, startNode } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';
import { drop, type Drop } from './fixture.js';

const CHILD = 'dist/test/watch/crash-child.js';

interface Scenario {
  readonly rule?: string;
  /** Before the process that will be killed starts. */
  readonly before?: (folders: Drop) => void;
  readonly put: (folders: Drop) => void;
  readonly after: (folders: Drop) => void;
}

/** References delivered to out, with how often. */
function delivered(folders: Drop): Record<string, number> {
  const count: Record<string, number> = {};
  for (const name of folders.names('out')) {
    for (const one of interchangesOf(Buffer.from(folders.text('out', name), 'latin1'))) {
      const ref = one.syntax === 'edifact' ? one.controlRef : '';
      count[ref] = (count[ref] ?? 0) + 1;
    }
  }
  return count;
}

const contrl = (ref: string, action: string): string => edifact(`A${ref}`, { body: `UNH+1+CONTRL:D:3:UN'UCI+${ref}+SENDER:14+RECEIVER:ZZ+${action}'UNT+3+1'` });
const reused = edifact('1', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" });

const SCENARIOS: Record<string, Scenario> = {
  'a first copy, a repetition, a reused number': {
    put: ({ put }) => {
      put('in', 'a.edi', edifact('1'));
      put('in', 'b.edi', edifact('1'));
      put('in', 'c.edi', reused);
    },
    after: (folders) => {
      expect(delivered(folders)).toEqual({ 1: 1 });
      expect(folders.names('duplicates')).toHaveLength(1);
      expect(folders.names('quarantine')).toEqual(['c.edi', 'c.edi.reason.json']);
    },
  },
  'a file cut': {
    before: ({ put }) => put('in', 'before.edi', edifact('2')),
    put: ({ put }) => put('in', 'a.edi', edifact('1') + edifact('2') + edifact('3')),
    after: (folders) => {
      expect(delivered(folders)).toEqual({ 1: 1, 2: 1, 3: 1 });
      expect(folders.names('duplicates')).toEqual(['a.edi', 'a.edi.report.json']);
      expect(folders.text('duplicates', 'a.edi')).toBe(edifact('1') + edifact('2') + edifact('3'));
    },
  },
  'a file split': {
    rule: 'mixed: split',
    before: ({ put }) => put('in', 'before.edi', edifact('2')),
    put: ({ put }) => put('in', 'a.edi', edifact('1') + edifact('2') + edifact('3')),
    after: (folders) => {
      expect(delivered(folders)).toEqual({ 1: 1, 2: 1, 3: 1 });
      expect(folders.names('duplicates')).toEqual(['a.edi']);
    },
  },
  'acknowledgements, one of them negative, and a corrected file': {
    before: ({ put }) => put('in', 'before.edi', edifact('1') + edifact('2')),
    put: ({ put }) => {
      put('acks', 'yes.contrl', contrl('2', '7'));
      put('acks', 'no.contrl', contrl('1', '4'));
      put('in', 'corrected.edi', reused);
      put('in', 'again.edi', edifact('2'));
    },
    after: (folders) => {
      expect(delivered(folders)).toEqual({ 1: 2, 2: 1 });
      expect(folders.names('duplicates')).toEqual(['again.edi']);
      // put out again once, or twice where the process died between putting out and counting
      expect(folders.names('ackOut').filter((name) => name.startsWith('yes')).length).toBeGreaterThanOrEqual(2);
      expect(folders.names('ackOut').filter((name) => name.startsWith('no'))).toEqual(['no.contrl']);
    },
  },
};

async function passHere(root: string, rule: string, work: (folders: Drop) => void): Promise<Drop> {
  const ledger = await lmdbLedger({ path: join(root, 'ledger'), oneShot: true });
  const folders = drop({ root, rule, ledger });
  work(folders);
  await folders.pass();
  await ledger.close();
  return folders;
}

/** Runs the scenario with a SIGKILL at step `n`, then a watcher that finds what was left. True while there was a step n. */
async function killedAt(n: number, { rule = '', before, put, after }: Scenario): Promise<boolean> {
  const folder = tempDir('crash');
  try {
    const root = folder.path;
    if (before !== undefined) await passHere(root, rule, before);
    const start = drop({ root, rule });
    put(start);
    writeFileSync(join(root, 'watch.json'), JSON.stringify(start.config));
    const child = await startNode(CHILD, [root, String(n)]);
    const { code, signal } = await child.ended;
    const killed = signal === 'SIGKILL';
    if (!killed) expect([code, child.stderr()]).toEqual([0, '']);
    const folders = await passHere(root, rule, () => undefined);
    try {
      expect([folders.names('in'), folders.names('acks'), folders.names('work'), folders.seen.fault]).toEqual([[], [], [], undefined]);
      expect(readdirSync(join(root, 'work', '.parts'))).toEqual([]);
      after(folders);
    } catch (error) {
      throw new Error(`killed at step ${n} (${child.lines().at(-1)}): ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    return killed;
  } finally {
    folder.remove();
  }
}

/** Kills at this many steps at once: each is a process of its own. */
const AT_ONCE = 3;

describe.skipIf(!existsSync(join(ROOT, CHILD)))('SIGKILL at each step (skipped where the test\'s child is not built: node scripts/prepare.mjs)', () => {
  it.each(Object.entries(SCENARIOS))('of %s: nothing is lost and nothing delivered twice', async (_name, scenario) => {
    let steps = 0;
    for (let n = 1; ; n += AT_ONCE) {
      const killed = await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => killedAt(n + i, scenario)));
      steps += killed.filter(Boolean).length;
      if (killed.includes(false)) break;
    }
    expect(steps).toBeGreaterThan(10);
  }, 300_000);
});
