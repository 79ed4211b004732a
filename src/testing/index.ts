import type { Ledger } from '../ledger/port.js';
import { adoptContract } from './adopt-contract.js';
import { claimContract } from './claim-contract.js';
import { holderContract } from './holder-contract.js';
import { lapseContract } from './lapse-contract.js';
import { notesContract } from './notes-contract.js';
import { operatorContract } from './operator-contract.js';
import { readingContract } from './reading-contract.js';
import { secondKeyContract } from './second-key-contract.js';

/** What the suite needs of a test runner; vitest, jest and node:test with an expect library all offer it. */
export interface Runner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  // the assertions' own types differ between runners; only these two matchers are used
  expect(value: unknown): { toBe(expected: unknown): void; toEqual(expected: unknown): void };
}

/** One ledger under test, empty at first. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** Another client or process-like opening of the same store; absent where an engine has one only. */
  readonly second?: Ledger;
  /** Lets the engine's clock come forward by at least this many ms: by moving it, or by waiting. */
  pass(ms: number): Promise<void>;
  /** Closes everything and removes the store. */
  dispose(): Promise<void>;
}

export interface Capabilities {
  /** The clock can be moved by the test, so that windows of days can be tried. */
  readonly movableClock: boolean;
}

export interface Contract {
  readonly runner: Runner;
  readonly capabilities: Capabilities;
  /** Runs `body` on a fresh ledger and disposes of it, whatever happens. */
  on(body: (subject: LedgerUnderTest) => Promise<void>): () => Promise<void>;
}

/**
 * The contract of ledger/port.ts as tests: every engine has to pass it on its real store. `name` heads the report,
 * `open` makes an empty ledger for each test.
 */
export function describeLedger(
  runner: Runner, name: string, open: () => Promise<LedgerUnderTest>, capabilities: Capabilities,
): void {
  const contract: Contract = {
    runner,
    capabilities,
    on: (body) => async () => {
      const subject = await open();
      try {
        await body(subject);
      } finally {
        await subject.dispose();
      }
    },
  };
  runner.describe(`ledger contract: ${name}`, () => {
    claimContract(contract);
    adoptContract(contract);
    holderContract(contract);
    lapseContract(contract);
    operatorContract(contract);
    secondKeyContract(contract);
    readingContract(contract);
    notesContract(contract);
  });
}

export * from './sample.js';
export type { Ledger } from '../ledger/port.js';
