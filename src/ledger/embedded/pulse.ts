/** How often copies are written and this process looks whether it slept, ms. */
const BEAT = 1_000;
/** A beat that comes this late means that the process, or the machine, stood still, ms. */
const STOOD_STILL = 5_000;
/** Beats between two sweeps. */
const SWEEP_EVERY = 10;

export interface PulseWork {
  /** The process stood still for a while: others may have done anything. */
  slept(): void;
  flush(): Promise<void>;
  sweep(): Promise<void>;
}

/** What the embedded ledger does on its own, once a second. Does not keep the process alive. */
export class Pulse {
  readonly #work: PulseWork;
  readonly #timer: NodeJS.Timeout;
  #last = performance.now();
  #beats = 0;
  #busy = false;

  constructor(work: PulseWork) {
    this.#work = work;
    this.#timer = setInterval(() => void this.#beat(), BEAT).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    const now = performance.now();
    if (now - this.#last > STOOD_STILL) this.#work.slept();
    this.#last = now;
    this.#beats += 1;
    if (this.#busy) return;
    this.#busy = true;
    try {
      await this.#work.flush();
      if (this.#beats % SWEEP_EVERY === 1) await this.#work.sweep();
    } catch {
      // full, held by another process or closing: the next beat tries again, and commands tell why
    } finally {
      this.#busy = false;
    }
  }
}
