import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open, readdir, readFile, rename, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, type Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { provenDead, thisProcess } from './owner.js';
import type { Answer, Ledger, Settle } from './port.js';
import type { Owner } from './record.js';

/**
 * Law 2: a reply whose settle could not be confirmed lies here, fsynced, before it is sent all the same.
 *
 * One entry is one file, `<time>-<digest>.settle`, made whole by a rename. Who settles it renames it to
 * `….settle~<owner>` first, which is its lock; an entry whose owner is gone is taken over by anybody on the host. Should
 * two processes ever settle one entry, nothing is lost or doubled: a settle is idempotent under its token.
 */
export interface Journal {
  /** Resolves when the entry would survive a crash of the machine. @throws As4OnceError LEDGER_FULL where it cannot be written. */
  append(entry: Settle): Promise<void>;
  /**
   * Settles every entry of the host's processes, calling back for each that is closed. Rejects when the ledger cannot be
   * reached, and at its end when it refuses single entries: they stay, and keep no other one waiting.
   */
  drain(ledger: Pick<Ledger, 'settle'>, closed?: (entry: Settle, answer: string) => void): Promise<void>;
  /** Entries that wait. */
  count(): Promise<number>;
  close(): Promise<void>;
}

export interface JournalOptions {
  /** A folder on a local disk; made where it is missing, readable by this user only. */
  readonly directory: string;
  readonly clock?: Clock;
  /** Told of an entry that cannot be read; it is set aside as `….unreadable`, never deleted. */
  readonly broken?: (file: string, why: string) => void;
}

const ENTRY = '.settle';
/** A lock is given up after this long where its owner cannot be proven dead (another PID namespace), ms. */
const LOCK = 120_000;
const LEFTOVER = 86_400_000;

/** What lies in the file: the settle command with its bytes as base64 and its start as a time instead of a duration. */
interface Stored {
  readonly began: number;
  readonly settle: Omit<Settle, 'reply' | 'beganMsAgo'> & { readonly reply: Omit<Settle['reply'], 'deflated'> & { readonly deflated: string } };
}

export function openJournal({ directory, clock = systemClock, broken }: JournalOptions): Journal {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const self = ownerName(thisProcess(''));
  let draining: Promise<void> = Promise.resolve();
  let made = 0;

  const append = async (entry: Settle): Promise<void> => {
    made += 1;
    const name = `${clock.now()}-${digest(`${entry.key} ${entry.token}`).slice(0, 16)}${ENTRY}`;
    const temporary = join(directory, `.${self}-${made}.tmp`);
    try {
      await writeSynced(temporary, serialize(entry, clock.now()));
      await rename(temporary, join(directory, name));
      await syncDirectory(directory);
    } catch (cause) {
      await unlink(temporary).catch(() => undefined);
      throw new As4OnceError('LEDGER_FULL', `the journal cannot be written: ${(cause as Error).message}`, { cause });
    }
  };

  const drainOnce: Journal['drain'] = async (ledger, closed) => {
    const tried = new Set<string>();
    let refused: unknown;
    for (;;) {
      const file = (await entries(directory, clock.now())).find(({ base }) => !tried.has(base));
      if (file === undefined) break;
      tried.add(file.base);
      const locked = await lock(directory, file.name, `${file.base}~${self}`, clock.now());
      if (locked === undefined) continue;
      try {
        await close(locked, file.base, ledger, closed);
      } catch (error) {
        // what is wrong with one record is not wrong with the others
        if (!(error instanceof As4OnceError) || error.code !== 'RECORD_UNREADABLE') throw error;
        refused ??= error;
      }
    }
    if (refused !== undefined) throw refused;
  };

  const close = async (locked: string, base: string, ledger: Pick<Ledger, 'settle'>, closed?: (entry: Settle, answer: string) => void): Promise<void> => {
    let entry: Settle;
    try {
      entry = parse(await readFile(locked, 'utf8'), clock.now());
    } catch (error) {
      await rename(locked, join(directory, `${base}.unreadable`));
      broken?.(base, (error as Error).message);
      return;
    }
    let answer: Answer;
    try {
      answer = await ledger.settle(entry);
    } catch (error) {
      await rename(locked, join(directory, base));
      throw error;
    }
    await unlink(locked);
    closed?.(entry, answer.kind);
  };

  return {
    append,
    // one at a time in this process: a second call finds what the first one left
    drain: (ledger, closed) => {
      const run = draining.then(() => drainOnce(ledger, closed));
      draining = run.catch(() => undefined);
      return run;
    },
    count: async () => (await readdir(directory)).filter((name) => baseOf(name) !== undefined).length,
    close: () => draining,
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `<base>.settle` or `<base>.settle~<owner>`: the part before the lock; undefined for anything else in the folder. */
function baseOf(name: string): string | undefined {
  const [base] = name.split('~', 1);
  return base?.endsWith(ENTRY) === true && !base.startsWith('.') ? base : undefined;
}

const ownerName = ({ boot, pidNamespace, pid, started }: Owner): string =>
  [boot.replaceAll('-', ''), pidNamespace.replaceAll(/\D/g, ''), pid, started].join('_');

/** Whether the process that locked an entry is certainly gone. */
function gone(name: string): boolean {
  const [boot = '', namespace = '', pid = '', started = ''] = (name.split('~')[1] ?? '').split('_');
  const here = thisProcess('');
  const [ownBoot, ownNamespace] = ownerName(here).split('_');
  if (boot === '' || boot !== ownBoot) return boot !== '' && ownBoot !== '';
  if (namespace !== ownNamespace) return false;
  return provenDead({ ...here, pid: Number(pid), started });
}

/** Entries that are free, or whose lock nobody holds any more. Oldest first. */
async function entries(directory: string, now: number): Promise<{ name: string; base: string }[]> {
  const found: { name: string; base: string }[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    const base = baseOf(name);
    if (base === undefined) await sweepLeftover(directory, name, now);
    else if (!name.includes('~') || gone(name) || await olderThan(join(directory, name), now, LOCK)) found.push({ name, base });
  }
  return found;
}

/** The path of the entry under our lock; undefined where another process was faster. */
async function lock(directory: string, name: string, locked: string, now: number): Promise<string | undefined> {
  const path = join(directory, locked);
  try {
    if (name !== locked) await rename(join(directory, name), path);
    await utimes(path, now / 1_000, now / 1_000);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A process that died while it wrote leaves a file nobody was promised. */
async function sweepLeftover(directory: string, name: string, now: number): Promise<void> {
  const path = join(directory, name);
  if (name.endsWith('.tmp') && await olderThan(path, now, LEFTOVER)) await unlink(path).catch(() => undefined);
}

async function olderThan(path: string, now: number, ms: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && now - found.mtimeMs > ms;
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename is durable only when its directory is. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function serialize({ reply, beganMsAgo, ...rest }: Settle, now: number): string {
  const stored: Stored = { began: now - beganMsAgo, settle: { ...rest, reply: { ...reply, deflated: Buffer.from(reply.deflated).toString('base64') } } };
  const body = JSON.stringify(stored);
  return `${digest(body)}\n${body}\n`;
}

function parse(text: string, now: number): Settle {
  const [sum, body = ''] = text.split('\n', 2);
  if (digest(body) !== sum) throw new As4OnceError('RECORD_UNREADABLE', 'a journal entry does not match its digest');
  const { began, settle } = JSON.parse(body) as Stored;
  const deflated = new Uint8Array(Buffer.from(settle.reply.deflated, 'base64'));
  return { ...settle, reply: { ...settle.reply, deflated }, beganMsAgo: Math.max(0, now - began) };
}
