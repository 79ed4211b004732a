import type { Clock } from '../../clock.js';
import type { Evaluation, RedisNode, RedisPort, Reply } from './command-port.js';

/** How long a replaced connection is kept for whoever still goes through its nodes, ms. */
const KEPT = 30_000;

interface Line {
  readonly port: RedisPort;
  /** Commands under way. */
  busy: number;
  idle?: () => void;
}

/**
 * A port whose connections can be made anew with other passwords, certificates or authorities while it works: the new
 * ones are opened and proven first, then take over, and the old ones end when their last command has been answered.
 */
export class RenewablePort implements RedisPort {
  readonly #clock: Clock;
  readonly #subscriptions: (readonly [channel: string, heard: (message: string) => void])[] = [];
  readonly #lost: (() => void)[] = [];
  readonly #closed = new AbortController();
  readonly #old = new Set<RedisPort>();
  #line: Line;

  constructor(port: RedisPort, clock: Clock) {
    this.#clock = clock;
    this.#line = this.#watched(port);
  }

  get client(): RedisPort['client'] {
    return this.#line.port.client;
  }

  get cluster(): boolean {
    return this.#line.port.cluster;
  }

  get keyPrefix(): string {
    return this.#line.port.keyPrefix;
  }

  evaluate(call: Evaluation): Promise<Reply> {
    return this.#counted(this.#line, (port) => port.evaluate(call));
  }

  evaluateAndWait(call: Evaluation, replicas: number, timeoutMs: number): ReturnType<RedisPort['evaluateAndWait']> {
    return this.#counted(this.#line, (port) => port.evaluateAndWait(call, replicas, timeoutMs));
  }

  async nodes(): Promise<readonly RedisNode[]> {
    const line = this.#line;
    const nodes = await this.#counted(line, (port) => port.nodes());
    return nodes.map(({ id, send }) => ({ id, send: (args) => this.#counted(line, () => send(args)) }));
  }

  async subscribe(channel: string, heard: (message: string) => void): Promise<void> {
    this.#subscriptions.push([channel, heard]);
    await this.#line.port.subscribe(channel, heard);
  }

  onLost(lost: () => void): void {
    this.#lost.push(lost);
  }

  trouble(): unknown {
    return this.#line.port.trouble();
  }

  connect(): Promise<void> {
    return this.#line.port.connect();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([this.#line.port, ...this.#old].map((port) => port.close()));
  }

  /** Goes over to `next`, once `connected` says that it works. @throws what `connected` throws; then nothing has changed. */
  async renew(next: RedisPort, connected: (port: RedisPort) => Promise<void>): Promise<void> {
    try {
      await connected(next);
      for (const [channel, heard] of this.#subscriptions) await next.subscribe(channel, heard);
    } catch (error) {
      await next.close();
      throw error;
    }
    const before = this.#line;
    this.#line = this.#watched(next);
    void this.#retire(before);
  }

  #watched(port: RedisPort): Line {
    const line: Line = { port, busy: 0 };
    // that an old connection ends is our own doing and no loss of contact
    port.onLost(() => {
      if (this.#line === line) for (const lost of this.#lost) lost();
    });
    return line;
  }

  async #retire(line: Line): Promise<void> {
    this.#old.add(line.port);
    await this.#clock.sleep(KEPT, this.#closed.signal);
    if (line.busy > 0 && !this.#closed.signal.aborted) await new Promise<void>((resolve) => (line.idle = resolve));
    this.#old.delete(line.port);
    await line.port.close();
  }

  async #counted<T>(line: Line, run: (port: RedisPort) => Promise<T>): Promise<T> {
    line.busy += 1;
    try {
      return await run(line.port);
    } finally {
      line.busy -= 1;
      if (line.busy === 0) line.idle?.();
    }
  }
}
