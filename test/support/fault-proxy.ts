import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy that a test puts between two real parties to break what lies between them. It never reads what it
 * carries, except to find the pattern a rule names. One exchange is the bytes of one direction up to the first byte of
 * the other: what request and reply are for Redis and HTTP.
 */
export interface FaultProxy {
  readonly port: number;
  /** Both directions are silent from now on, connections stay open, new ones are accepted and never served. */
  blackHole(): void;
  /** Nothing more goes from the client to the server (`up`) or back (`down`); the other direction works. */
  halfOpen(silent: 'up' | 'down'): void;
  /** Every chunk is passed on `ms` later. */
  delay(ms: number): void;
  /** Resets all connections now (RST both ways). New ones are served. */
  cut(): void;
  /** Refuses new connections (accepted and reset at once) until `heal`. */
  refuse(): void;
  /**
   * Lets the request through, waits for the server's reply, throws it away and resets the connection: the server did
   * it, the client does not know. `nth` counts exchanges of all connections from now on, starting at 1; with
   * `pattern`, only those whose request contains it count. Resolves when it has happened.
   */
  eatReply(rule?: { readonly nth?: number; readonly pattern?: string | RegExp }): Promise<void>;
  /** Passes exactly `bytes` from the client of the next connection, then resets it. Resolves when it has happened. */
  cutAfter(bytes: number): Promise<void>;
  /** Takes back every rule; what was swallowed stays lost. */
  heal(): void;
  /** Connections open now. */
  readonly open: number;
  /** Connections accepted since the start. */
  readonly accepted: number;
  close(): Promise<void>;
}

interface EatRule {
  left: number;
  readonly pattern: string | RegExp | undefined;
  readonly done: () => void;
}

interface CutRule {
  left: number;
  readonly done: () => void;
}

interface Carried {
  readonly client: Socket;
  readonly server: Socket;
  /** Request bytes since the last reply, kept only while a pattern is looked for. */
  request: string;
  answered: boolean;
  /** Rules that have counted this exchange already. */
  readonly counted: Set<EatRule>;
  eating: EatRule | undefined;
  cutting: CutRule | undefined;
}

interface State {
  silent: 'none' | 'up' | 'down' | 'both';
  delayMs: number;
  refusing: boolean;
  eat: EatRule[];
  cut: CutRule[];
}

const PEACE = (): State => ({ silent: 'none', delayMs: 0, refusing: false, eat: [], cut: [] });

export async function faultProxy(target: { readonly port: number; readonly host?: string }): Promise<FaultProxy> {
  let state = PEACE();
  let accepted = 0;
  const carried = new Set<Carried>();

  const reset = (one: Carried): void => {
    carried.delete(one);
    one.client.resetAndDestroy();
    one.server.resetAndDestroy();
  };
  const later = (act: () => void): void => {
    if (state.delayMs === 0) act();
    else setTimeout(act, state.delayMs);
  };
  const pass = (from: Socket, to: Socket, chunk: Buffer): void => later(() => {
    if (!to.writable || to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });

  const up = (one: Carried, chunk: Buffer): void => {
    if (state.silent === 'up' || state.silent === 'both') return;
    if (one.answered) {
      one.answered = false;
      one.request = '';
      one.counted.clear();
    }
    if (state.eat.some((rule) => rule.pattern !== undefined)) one.request += chunk.toString('latin1');
    one.eating ??= choose(state.eat, one);
    if (one.cutting === undefined) {
      pass(one.client, one.server, chunk);
      return;
    }
    const rule = one.cutting;
    const part = chunk.subarray(0, rule.left);
    rule.left -= part.length;
    one.server.write(part, () => {
      if (rule.left > 0) return;
      reset(one);
      rule.done();
    });
  };

  const down = (one: Carried, chunk: Buffer): void => {
    if (state.silent === 'down' || state.silent === 'both') return;
    one.answered = true;
    if (one.eating === undefined) {
      pass(one.server, one.client, chunk);
      return;
    }
    const { done } = one.eating;
    reset(one);
    done();
  };

  const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    accepted += 1;
    client.on('error', () => undefined);
    if (state.refusing) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ port: target.port, host: target.host ?? '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const one: Carried = { client, server: upstream, request: '', answered: false, counted: new Set(), eating: undefined, cutting: state.cut.shift() };
    carried.add(one);
    upstream.on('error', () => undefined);
    client.on('data', (chunk: Buffer) => up(one, chunk));
    upstream.on('data', (chunk: Buffer) => down(one, chunk));
    client.on('end', () => state.silent === 'none' && later(() => upstream.end()));
    upstream.on('end', () => state.silent === 'none' && later(() => client.end()));
    for (const socket of [client, upstream]) {
      socket.on('close', (broken) => {
        if (client.destroyed && upstream.destroyed) carried.delete(one);
        else if (broken && state.silent === 'none') reset(one);
      });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  return {
    port: (server.address() as { port: number }).port,
    blackHole: () => {
      state.silent = 'both';
    },
    halfOpen: (silent) => {
      state.silent = silent;
    },
    delay: (ms) => {
      state.delayMs = ms;
    },
    cut: () => {
      for (const one of [...carried]) reset(one);
    },
    refuse: () => {
      state.refusing = true;
    },
    eatReply: ({ nth = 1, pattern } = {}) => new Promise<void>((done) => {
      state.eat.push({ left: nth, pattern, done });
    }),
    cutAfter: (bytes) => new Promise<void>((done) => {
      state.cut.push({ left: bytes, done });
    }),
    heal: () => {
      state = PEACE();
      for (const one of carried) one.eating = undefined;
    },
    get open() {
      return carried.size;
    },
    get accepted() {
      return accepted;
    },
    close: async () => {
      for (const one of [...carried]) reset(one);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The rule that this exchange is the turn of, if any. */
function choose(rules: EatRule[], one: Carried): EatRule | undefined {
  for (const rule of rules) {
    if (one.counted.has(rule) || !matches(rule.pattern, one.request)) continue;
    one.counted.add(rule);
    rule.left -= 1;
    if (rule.left > 0) continue;
    rules.splice(rules.indexOf(rule), 1);
    return rule;
  }
  return undefined;
}

function matches(pattern: string | RegExp | undefined, request: string): boolean {
  if (pattern === undefined) return true;
  return typeof pattern === 'string' ? request.includes(pattern) : pattern.test(request);
}
