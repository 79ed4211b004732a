import { Events, type EventMap } from '../../src/events.js';
import { As4OnceError } from '../../src/errors.js';
import { plain, type Exchange, type HeaderList, type Reply } from '../../src/exchange.js';
import type { AttemptResult, Attempted, Delivery, StoredBody } from '../../src/delivery/port.js';
import { Waiting } from '../../src/delivery/wait.js';
import type { Ledger, Settle } from '../../src/ledger/port.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import { LIMITS, TIMES, type Limits } from '../../src/limits.js';
import type { Message } from '../../src/message.js';
import { duplicateKey } from '../../src/policy/key.js';
import type { Rule } from '../../src/policy/rule.js';
import type { Early, Protocol, Read, Reading } from '../../src/protocol.js';
import { storeReply } from '../../src/receipt/stored-reply.js';
import type { Route, Walk } from '../../src/walk.js';
import { receive } from '../../src/receive.js';
import { simulatedClock } from '../support/simulated-clock.js';

/** A world of ports around the walk: the real ledger transition, time that stands until a test moves it. */
export class World {
  readonly clock = simulatedClock();
  readonly events = new Events();
  readonly seen: { name: keyof EventMap; event: unknown }[] = [];
  readonly delivered: { id: string; mark: Attempted['mark']; body: string; firstId?: string }[] = [];
  readonly journaled: Settle[] = [];
  readonly passed: string[] = [];
  ledger: Ledger;
  rule: Rule = RULE;
  /** What the upstream does; by default it accepts with a Receipt of its own. */
  upstream: (attempted: Attempted, nth: number) => Promise<AttemptResult> = async (attempted, nth) => accepted(attempted.message.reference, nth);
  readonly walk: Walk;

  constructor(limits: Partial<Limits> = {}) {
    const bounds = { ...LIMITS, ...limits };
    this.ledger = memoryLedger({ clock: this.clock });
    const world = this;
    this.walk = {
      node: 'test', owner: { node: 'test', pid: 1, started: '1', boot: '', pidNamespace: '' },
      clock: this.clock, events: this.events, limits: bounds,
      get ledger() { return world.ledger; },
      spool: { open: memorySink },
      journal: { append: async (entry) => void this.journaled.push(entry) },
      waiting: new Waiting({ find: (k: string) => world.ledger.find(k), watch: (k: string, w: () => void) => world.ledger.watch(k, w) } as Ledger, this.clock, LIMITS, TIMES.poll),
      underWay: new Set(),
      mayDecide: () => undefined,
    };
    for (const name of ['exchange', 'mismatch', 'uncertain', 'held', 'journaled', 'shadow', 'late', 'resend', 'lateOutcome', 'unreadable', 'takeOver', 'twoReceipts', 'burnt', 'fault'] as const) {
      this.events.on(name, (event) => this.seen.push({ name, event }));
    }
  }

  /** Sends one message of the toy protocol: `id|sender|content`; ends when the walk has answered. */
  async send(id: string, content = 'invoice', sender = 'A'): Promise<Reply & { text: string }> {
    const reply = await receive(exchangeOf(`${id}|${sender}|${content}`), this.route(), this.walk);
    return { ...reply, text: Buffer.from(reply.body as Uint8Array).toString() };
  }

  route(over: Partial<Route> = {}): Route {
    const delivery: Delivery = {
      attempt: async (attempted) => {
        let body = '';
        for await (const chunk of attempted.body.stream()) body += Buffer.from(chunk).toString();
        this.delivered.push({ id: attempted.message.reference, mark: attempted.mark, body, ...(attempted.firstId === undefined ? {} : { firstId: attempted.firstId }) });
        return await this.upstream(attempted, this.delivered.length);
      },
    };
    return {
      name: '/', scope: 'test', protocol: TOY, methods: new Set(['POST']), delivery, times: TIMES, markReplay: true, remembersMs: 0,
      shadow: this.rule.mode === 'shadow', lookEarly: 'long',
      select: () => this.rule,
      keysOf: (message, rule) => ({
        key: duplicateKey(message, rule.key, 'test'),
        withContent: () => duplicateKey(message, `${rule.key}+content` as Rule['key'], 'test'),
        withSender: () => duplicateKey(message, 'reference+sender', 'test'),
        second: [],
        ...(rule.previousKey === undefined ? {} : { previous: duplicateKey(message, rule.previousKey, 'test') }),
      }),
      pass: async (_exchange, body) => {
        let text = '';
        if (body !== undefined) for await (const chunk of body.stream()) text += Buffer.from(chunk).toString();
        this.passed.push(text);
        return { status: 200, headers: [], body: Buffer.from('passed') };
      },
      refuse: (error) => plain(error.entry.status, `${error.code}: ${error.detail}`),
      ...over,
    };
  }

  names(): string[] {
    return this.seen.filter(({ name }) => name !== 'exchange').map(({ name }) => name);
  }

  lastExchange(): EventMap['exchange'] {
    return this.seen.filter(({ name }) => name === 'exchange').at(-1)?.event as EventMap['exchange'];
  }
}

export const RULE: Rule = {
  name: 'defaults', window: 90 * 86_400_000, late: 0, key: 'reference+sender', mode: 'eliminate', mismatch: 'refuse',
  otherSender: 'refuse', uncertain: 'auto', upstreamDuplicate: 'pass', bundle: 'refuse', unsigned: 'accept', known: 'pass',
  replyPattern: 'response', resend: 'auto', sbdh: 'flag', verify: 'none', wait: 25_000, inFlight: 503, replyHeaders: [],
};

export function accepted(id: string, nth: number): AttemptResult {
  const body = Buffer.from(`Receipt ${nth} for ${id}`);
  const stored = storeReply({ status: 200, contentType: 'application/soap+xml', body, receiptId: `r${nth}` });
  return { outcome: 'accepted', reason: 'receipt', hold: false, counts: true, stored, reply: { status: 200, headers: [['Content-Type', 'application/soap+xml']], body } };
}

export function failed(outcome: 'rejected' | 'uncertain', hold = false): AttemptResult {
  return { outcome, reason: outcome === 'rejected' ? 'error' : 'reset', hold, counts: true, reply: plain(outcome === 'rejected' ? 200 : 502, `upstream ${outcome}`) };
}

export function exchangeOf(text: string, headers: HeaderList = [], chunkSize = 7): Exchange {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, i) => bytes.subarray(i * chunkSize, (i + 1) * chunkSize));
  return { method: 'POST', target: '/', headers, peer: '127.0.0.1', body: (async function* () { yield* chunks; })() };
}

/** `id|sender|content`; `signal` passes; `broken` cannot be read. */
const TOY: Protocol = {
  name: 'toy',
  open: (): Reading => {
    let text = '';
    let early: Early | undefined;
    const read = (): Read => {
      if (text === 'signal') return { kind: 'pass' };
      const [reference, sender, content] = text.split('|');
      if (reference === undefined || sender === undefined || content === undefined) throw new As4OnceError('HEADER_INVALID', 'no parts');
      const message: Message = {
        protocol: 'reference', reference, signed: false, fingerprint: `plain:${content}`,
        facts: { from: [{ value: sender }], to: [{ value: 'B' }] },
      };
      return { kind: 'message', message, bundled: false };
    };
    return {
      push: (chunk) => void (text += Buffer.from(chunk).toString()),
      get early() { return early; },
      end: async () => { const done = read(); early = done; return done; },
      answerIn: { protocol: 'toy' },
    };
  },
};

function memorySink(): ReturnType<Walk['spool']['open']> {
  const chunks: Uint8Array[] = [];
  const body: StoredBody = { length: 0, stream: async function* () { yield* chunks; }, dispose: async () => undefined };
  return { write: async (chunk) => void chunks.push(chunk), finish: async () => body, discard: async () => void chunks.splice(0) };
}
