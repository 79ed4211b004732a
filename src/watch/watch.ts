import { As4OnceError, ERRORS } from '../errors.js';
import { compileRules } from '../policy/select.js';
import { processAck } from './ack-intake.js';
import { prepareFolders } from './folders.js';
import { sweepReservations } from './move-into.js';
import { finishSplits, isPartOf } from './parts.js';
import { Presence } from './presence.js';
import { processFile } from './process-file.js';
import { ReadyFiles } from './ready.js';
import { listWork, randomHex, retake, take, type WorkFile } from './work-file.js';
import type { StepName, Watching } from './watching.js';

export type WatchOptions = Omit<Watching, 'id' | 'rules' | 'step'> & { readonly step?: (name: StepName) => void };

export interface FolderWatch {
  /** One pass: what was left, acknowledgements, what arrived. Throws LEDGER_DOWN and the like; nothing is lost then. */
  pass(alone: boolean): Promise<void>;
  /** Passes every `poll` until the signal aborts; a ledger that cannot be reached is waited for. */
  run(signal: AbortSignal): Promise<void>;
  /** Says that this watcher is gone, so that others need not wait for its lease. */
  leave(): Promise<void>;
}

/** Watches one folder. Throws CONFIG_INVALID where its folders cannot be used. */
export async function watchFolder(options: WatchOptions): Promise<FolderWatch> {
  const { config } = options;
  const { acks, ackOut } = config.folders;
  if (acks !== undefined && ackOut === undefined) {
    throw new As4OnceError('CONFIG_INVALID', `watch ${config.name}: acks needs ackOut, where acknowledgements go on to`);
  }
  const watching: Watching = {
    step: () => undefined,
    ...options,
    rules: compileRules(config.rules),
    id: randomHex(options, 8),
  };
  await prepareFolders(watching);
  await sweepReservations(watching);
  const presence = new Presence(watching);
  await presence.beat();
  return new Passes(watching, presence);
}

class Passes implements FolderWatch {
  readonly #watching: Watching;
  readonly #presence: Presence;
  readonly #inbound: ReadyFiles;
  readonly #acks: ReadyFiles | undefined;
  #beaten: number;

  constructor(watching: Watching, presence: Presence) {
    const { config, clock } = watching;
    this.#watching = watching;
    this.#presence = presence;
    this.#inbound = new ReadyFiles(watching, config.folders.in, config.trigger);
    this.#acks = config.folders.acks === undefined ? undefined : new ReadyFiles(watching, config.folders.acks, undefined);
    this.#beaten = clock.monotonic();
  }

  async pass(alone: boolean): Promise<void> {
    await this.#beat(true);
    const { config } = this.#watching;
    await finishSplits(this.#watching, (id) => this.#presence.isGone(id));
    for (const file of await listWork(config.folders.work)) await this.#resume(file);
    for (const { name } of (await this.#acks?.list(alone)) ?? []) await this.#take(config.folders.acks ?? '', name, 'acknowledgement');
    for (const { name } of await this.#inbound.list(alone)) {
      await this.#take(config.folders.in, name, 'inbound');
      await this.#inbound.taken(name);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, config } = this.#watching;
    while (!signal.aborted) {
      try {
        await this.pass(false);
      } catch (error) {
        this.#fault(error, 'a pass ended early');
      }
      await clock.sleep(config.poll, signal);
    }
  }

  async leave(): Promise<void> {
    await this.#presence.leave();
  }

  async #take(folder: string, name: string, kind: WorkFile['kind']): Promise<void> {
    this.#watching.step('take');
    const file = await take(this.#watching, folder, name, kind);
    this.#watching.step('taken');
    if (file !== undefined) await this.#work(file);
  }

  /** A file that was found in work: ours from before, or of a watcher that is gone. */
  async #resume(file: WorkFile): Promise<void> {
    const own = file.watcher === this.#watching.id;
    if (!own && !(await this.#presence.isGone(file.watcher))) return;
    const mine = own ? file : await retake(this.#watching, file);
    if (mine !== undefined) await this.#work(mine);
  }

  async #work(file: WorkFile): Promise<void> {
    await this.#beat(false);
    try {
      if (file.kind === 'acknowledgement') {
        await processAck(this.#watching, file);
      } else {
        const fate = await processFile(this.#watching, file);
        if (fate.kind === 'split') await this.#parts(fate.token);
      }
    } catch (error) {
      // without the ledger nothing else can be decided either, and the order of arrival is kept
      if (error instanceof As4OnceError && ERRORS[error.code].status === 503) throw error;
      // one bad file (no permission to read it, say) must not hold up the others
      this.#fault(error, file.name);
    }
  }

  async #parts(token: string): Promise<void> {
    const { id, config } = this.#watching;
    for (const part of await listWork(config.folders.work)) {
      if (part.watcher === id && isPartOf(part.token, token)) await this.#work(part);
    }
  }

  #fault(error: unknown, what: string): void {
    const known = error instanceof As4OnceError ? error : new As4OnceError('INTERNAL', error instanceof Error ? error.message : String(error), { cause: error });
    this.#watching.events.emit('fault', { code: known.code, detail: `${this.#watching.config.name}: ${what}: ${known.detail}` });
  }

  /** Often enough for three beats within a lease, however many files a pass has. */
  async #beat(always: boolean): Promise<void> {
    const { clock, times } = this.#watching;
    const now = clock.monotonic();
    if (!always && now - this.#beaten < times.lease / 3) return;
    this.#beaten = now;
    await this.#presence.beat();
  }
}
