import type { Clock } from '../../clock.js';
import type { Events } from '../../events.js';
import type { Contact } from '../contact.js';
import { infoOf, inspectNode } from './inspect.js';
import type { NodeState, StoreWarning } from './inspect.js';
import type { Runner } from './runner.js';

/** Contact is confirmed and memory looked at this often, ms. */
const BEAT = 1_000;
/** A beat that comes this late means that this process stood still, ms. */
const STOOD_STILL = 5_000;
/** Beats between two looks at the server's settings. */
const INSPECT_EVERY = 60;
/** New claims are refused above this part of maxmemory, so that settles always fit. */
const FULL = 0.9;

export interface WatchmanOptions {
  readonly clock: Clock;
  readonly contact: Contact;
  readonly waitReplicas: number;
  readonly maxBytes: number | undefined;
  readonly events: Events | undefined;
}

/** Watches the server once a second: is it there, has it room, and once a minute: may it forget. */
export class Watchman {
  readonly #runner: Runner;
  readonly #options: WatchmanOptions;
  readonly #told = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #last = performance.now();
  #beats = 0;
  #busy = false;
  #full: string | undefined;
  #states: readonly NodeState[] = [];
  #uptimeAt = 0;
  /** Contact was lost since the last look at the settings: what answers now may be another server. */
  #unseen = true;

  constructor(runner: Runner, options: WatchmanOptions) {
    this.#runner = runner;
    this.#options = options;
    runner.port.onLost(() => this.#lost());
  }

  /** Why no new claims are taken. */
  get full(): string | undefined {
    return this.#full;
  }

  /** How long the server that was started last has been running, ms. */
  get uptimeMs(): number {
    const least = Math.min(...this.#states.map(({ uptimeMs }) => uptimeMs));
    return Number.isFinite(least) ? least + this.#options.clock.monotonic() - this.#uptimeAt : 0;
  }

  get states(): readonly NodeState[] {
    return this.#states;
  }

  /** As of the last look; that the server is nearly full is known every second. */
  get warnings(): readonly StoreWarning[] {
    const seen = this.#states.flatMap(({ warnings }) => warnings);
    const others = seen.filter(({ code }) => code !== 'STORE_NEARLY_FULL');
    return this.#full === undefined ? others : [...others, { code: 'STORE_NEARLY_FULL', mayForget: false, text: this.#full }];
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#beat(), BEAT).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Asks every master about itself and tells of what is new. @throws As4OnceError LEDGER_DOWN */
  async inspect(): Promise<readonly StoreWarning[]> {
    const { clock, waitReplicas, events } = this.#options;
    const nodes = await this.#runner.within(this.#runner.port.nodes());
    this.#states = await Promise.all(nodes.map((node) => this.#runner.within(inspectNode(node, waitReplicas, clock.now()))));
    this.#uptimeAt = clock.monotonic();
    this.#unseen = false;
    this.#full = undefined;
    for (const { id, usedMemory, maxMemory } of this.#states) this.#look(id, usedMemory, maxMemory);
    const warnings = this.#states.flatMap((state) => state.warnings);
    for (const { code, text } of warnings) {
      if (!this.#told.has(text)) events?.emit('storeWarning', { code, text });
    }
    this.#told.clear();
    for (const { text } of warnings) this.#told.add(text);
    return warnings;
  }

  #look(id: string, used: number, max: number): void {
    const { maxBytes } = this.#options;
    const bound = Math.min(max > 0 ? max * FULL : Infinity, maxBytes ?? Infinity);
    if (used > bound) this.#full = `Redis${id === '' ? '' : ` ${id}`} uses ${used} bytes, and claims are taken up to ${Math.floor(bound)}`;
  }

  #lost(): void {
    this.#options.contact.lose();
    this.#unseen = true;
  }

  async #beat(): Promise<void> {
    const { contact } = this.#options;
    const now = performance.now();
    if (now - this.#last > STOOD_STILL) contact.lose();
    this.#last = now;
    if (this.#busy) return;
    this.#busy = true;
    this.#beats += 1;
    try {
      const nodes = await this.#runner.within(this.#runner.port.nodes());
      const replies = await Promise.all(nodes.map(async (node) => ({ id: node.id, info: await this.#runner.within(infoOf(node, 'memory')) })));
      this.#full = undefined;
      for (const { id, info } of replies) this.#look(id, Number(info?.get('used_memory') ?? 0), Number(info?.get('maxmemory') ?? 0));
      contact.confirm();
      if (this.#unseen || this.#beats % INSPECT_EVERY === 0) await this.inspect();
    } catch {
      this.#lost();
    } finally {
      this.#busy = false;
    }
  }
}
