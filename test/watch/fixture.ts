import { mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../src/clock.js';
import type { WatchConfig } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import { Events, type EventMap } from '../../src/events.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import { thisProcess } from '../../src/ledger/owner.js';
import type { Ledger } from '../../src/ledger/port.js';
import { LIMITS, TIMES } from '../../src/limits.js';
import { watchFolder, type FolderWatch, type WatchOptions } from '../../src/watch/watch.js';
import { bytes } from '../edi/samples.js';
import { tempDir } from '../support/temp-dir.js';

type FolderName = keyof WatchConfig['folders'];

/** A set of folders with a ledger, and what is needed to look into both. */
export interface Drop {
  readonly root: string;
  readonly config: WatchConfig;
  readonly ledger: Ledger;
  readonly events: Events;
  /** Every event so far, by name. */
  readonly seen: { readonly [K in keyof EventMap]?: EventMap[K][] };
  watch(options?: Partial<WatchOptions>): Promise<FolderWatch>;
  /** One pass of a fresh watcher. */
  pass(options?: Partial<WatchOptions>): Promise<void>;
  put(folder: FolderName, name: string, text: string): void;
  /** Names in a folder, dot names left out, sorted. */
  names(folder: FolderName): string[];
  text(folder: FolderName, name: string): string;
  json(folder: FolderName, name: string): Record<string, unknown>;
  path(folder: FolderName, name: string): string;
  remove(): void;
}

export interface DropOptions {
  readonly protocol?: 'edifact' | 'x12' | 'sbdh';
  /** Further lines of the watch entry, YAML flow style: `key: reference`. */
  readonly rule?: string;
  readonly more?: string;
  readonly stable?: string;
  readonly ledger?: Ledger;
  readonly clock?: Clock;
  readonly root?: string;
}

/** The configuration of one watched folder below `root`, as a user would write it. */
export function watchConfig(root: string, { protocol = 'edifact', rule = '', more = '', stable = '1ms' }: DropOptions = {}): WatchConfig {
  const text = `role: front
ledger: { embedded: ./data }
watch:
  - { protocol: ${protocol}, in: ./in, out: ./out, acks: ./acks, ackOut: ./ackOut, stable: ${stable}, defaults: { ${rule} } ${more} }
`;
  const [found] = loadConfig({ text }, { base: root }).watch;
  if (found === undefined) throw new Error('no watch');
  return found;
}

export function drop(options: DropOptions = {}): Drop {
  const folder = options.root === undefined ? tempDir('watch') : { path: options.root, remove: () => undefined };
  const root = folder.path;
  const config = watchConfig(root, options);
  for (const path of Object.values(config.folders)) mkdirSync(path, { recursive: true });
  const clock = options.clock ?? systemClock;
  const ledger = options.ledger ?? memoryLedger({ clock });
  const events = new Events();
  const seen: { [K in keyof EventMap]?: EventMap[K][] } = {};
  for (const name of ['exchange', 'mismatch', 'fault', 'shadow', 'late', 'replyTooLarge'] as const) {
    events.on(name, (event) => {
      (seen[name] ??= [] as never[]).push(event as never);
    });
  }
  const watch = (more: Partial<WatchOptions> = {}): Promise<FolderWatch> =>
    watchFolder({ config, ledger, clock, events, owner: thisProcess('test'), limits: LIMITS, times: TIMES, ...more });
  const path = (name: FolderName, file: string): string => join(config.folders[name] ?? '', file);
  return {
    root, config, ledger, events, seen, watch, path,
    pass: async (more) => {
      const one = await watch(more);
      try {
        await one.pass(true);
      } finally {
        await one.leave();
      }
    },
    put: (name, file, text) => {
      writeFileSync(path(name, file), bytes(text));
      // old enough to be ready, in the order of arrival
      utimesSync(path(name, file), 1_700_000_000 + (arrivals += 1), 1_700_000_000 + arrivals);
    },
    names: (name) => readdirSync(config.folders[name] ?? '').filter((file) => !file.startsWith('.')).sort(),
    text: (name, file) => readFileSync(path(name, file)).toString('latin1'),
    json: (name, file) => JSON.parse(readFileSync(path(name, file), 'utf8')) as Record<string, unknown>,
    remove: () => folder.remove(),
  };
}

let arrivals = 0;
