import type { Clock } from '../clock.js';
import type { WatchConfig } from '../config/config.js';
import type { Events } from '../events.js';
import type { Ledger } from '../ledger/port.js';
import type { Owner } from '../ledger/record.js';
import type { Limits, Times } from '../limits.js';
import type { RuleSet } from '../policy/select.js';

/** What every step of watching one folder is given. */
export interface Watching {
  readonly config: WatchConfig;
  readonly rules: RuleSet;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly events: Events;
  readonly owner: Owner;
  readonly limits: Limits;
  readonly times: Times;
  /** Names this watcher in the names of the files it works on: eight hex digits. */
  readonly id: string;
  /** Called before each step that a crash could separate from the next one; for tests that crash there. */
  readonly step: (name: StepName) => void;
}

/** Between any two of these a watcher may die; nothing is lost or doubled then. */
export type StepName =
  | 'take' | 'taken' | 'read' | 'claim' | 'claimed' | 'cut' | 'replaced' | 'settle' | 'settled' | 'noted' | 'reserve' | 'reserved' | 'move' | 'moved'
  | 'split' | 'committed' | 'promoted' | 'ack' | 'recorded';

export type { WatchConfig };
