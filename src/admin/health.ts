import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import type { Events } from '../events.js';
import type { Ledger } from '../ledger/port.js';

export interface Health {
  /** `ok`; `degraded`: works, but something endangers the guarantee; `down`: no decision can be made, or the ledger forgot some. */
  readonly status: 'ok' | 'degraded' | 'down';
  readonly ledger: { readonly engine: string; readonly up: boolean; readonly ms?: number; readonly reason?: string };
  readonly warnings: readonly { readonly code: string; readonly text: string }[];
  readonly shuttingDown: boolean;
}

/** Watches the ledger: on request, and on its own so that a loss shows without traffic. */
export class LedgerHealth {
  readonly #ledger: Ledger;
  readonly #events: Events;
  /** What this process itself knows; the store's own stand with the ledger. */
  readonly #warnings = new Map<string, string>();
  #up = true;
  #reason = '';
  #pingMs: number | undefined;

  constructor(ledger: Ledger, events: Events) {
    this.#ledger = ledger;
    this.#events = events;
    events.on('behind', ({ behind, reason }) => this.#stand(behind, 'LEDGER_BEHIND', reason));
    events.on('bypass', ({ on, reason, until }) => this.#stand(on, 'BYPASS', `the ledger is bypassed until ${until}: ${reason}`));
  }

  get up(): boolean {
    return this.#up;
  }

  /** Codes of the standing warnings. */
  get warnings(): readonly string[] {
    return [...new Set(this.#standing().map(({ code }) => code))];
  }

  /** Round trip of the last look, ms; undefined while the ledger cannot be reached. */
  get pingMs(): number | undefined {
    return this.#pingMs;
  }

  async check(): Promise<{ up: boolean; ms?: number; reason?: string }> {
    try {
      const { ms } = await this.#ledger.ping();
      this.#pingMs = ms;
      this.#set(true, '');
      return { up: true, ms };
    } catch (error) {
      const reason = error instanceof As4OnceError ? `${error.code} ${error.detail}`.trim() : String(error);
      this.#pingMs = undefined;
      this.#set(false, reason);
      return { up: false, reason };
    }
  }

  async read(shuttingDown: boolean): Promise<Health> {
    const ledger = await this.check();
    const warnings = this.#standing();
    const status = !ledger.up || this.#warnings.has('LEDGER_BEHIND') ? 'down' : warnings.length > 0 ? 'degraded' : 'ok';
    return { status, ledger: { engine: this.#ledger.name, ...ledger }, warnings, shuttingDown };
  }

  /** Until the signal aborts. */
  async watch(clock: Clock, everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal);
      if (!signal.aborted) await this.check();
    }
  }

  #standing(): Health['warnings'] {
    const store = (this.#ledger.warnings?.() ?? []).map(({ code, text }) => ({ code, text }));
    return [...store, ...[...this.#warnings].map(([code, text]) => ({ code, text }))];
  }

  #stand(now: boolean, code: string, text: string): void {
    if (now) this.#warnings.set(code, text);
    else this.#warnings.delete(code);
  }

  #set(up: boolean, reason: string): void {
    if (this.#up !== up) this.#events.emit('ledger', { up, reason });
    this.#up = up;
    this.#reason = reason;
  }

  get reason(): string {
    return this.#reason;
  }
}
