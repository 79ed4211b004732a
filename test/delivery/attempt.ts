import { accessPoint, type AccessPointName } from '../../src/delivery/access-points.js';
import type { Attempted, AttemptResult, StoredBody, Upstream } from '../../src/delivery/port.js';
import { createUpstream, type UpstreamOptions } from '../../src/delivery/upstream.js';
import { systemClock } from '../../src/clock.js';
import type { HeaderList } from '../../src/exchange.js';
import type { LedgerRecord } from '../../src/ledger/record.js';
import { LIMITS, TIMES } from '../../src/limits.js';
import type { Rule } from '../../src/policy/rule.js';

/** What the walk hands to an upstream, made by hand: one claimed message in memory or streamed. */

export const RULE: Rule = {
  name: 'defaults',
  window: 86_400_000,
  late: 0,
  key: 'reference+sender',
  mode: 'eliminate',
  mismatch: 'refuse',
  otherSender: 'refuse',
  uncertain: 'auto',
  upstreamDuplicate: 'pass',
  bundle: 'refuse',
  unsigned: 'accept',
  known: 'pass',
  replyPattern: 'response',
  resend: 'off',
  sbdh: 'off',
  verify: 'none',
  wait: 25_000,
  inFlight: 503,
  replyHeaders: [],
};

export interface AttemptChoices {
  readonly messageId?: string;
  readonly fingerprint?: string;
  readonly body?: StoredBody;
  readonly headers?: HeaderList;
  readonly target?: string;
  readonly mark?: Attempted['mark'];
  readonly firstId?: string;
  readonly rule?: Partial<Rule>;
  readonly before?: { readonly firstUncertain?: number; readonly rejections?: number };
  /** False: nobody claimed it (detect-only copies). */
  readonly claimed?: boolean;
  readonly protocol?: Attempted['message']['protocol'];
  readonly signal?: AbortSignal;
}

export function attempted(choices: AttemptChoices = {}): Attempted {
  const { messageId = 'm-1@test', fingerprint = 'plain:x', protocol = 'as4' } = choices;
  const record = { rejections: 0, ...choices.before } as LedgerRecord;
  return {
    message: { protocol, reference: messageId, fingerprint, signed: true, facts: { from: [], to: [] } },
    exchange: {
      method: 'POST',
      target: choices.target ?? '/',
      headers: choices.headers ?? [['Host', 'front.example'], ['Content-Type', 'application/soap+xml']],
      peer: '192.0.2.7',
      body: nothing(),
    },
    body: choices.body ?? stored(Buffer.from('<x/>')),
    rule: { ...RULE, ...choices.rule },
    mark: 'mark' in choices ? choices.mark : 'first',
    ...(choices.firstId === undefined ? {} : { firstId: choices.firstId }),
    ...(choices.claimed === false ? {} : { record }),
    signal: choices.signal ?? new AbortController().signal,
  };
}

export function stored(bytes: Uint8Array): StoredBody {
  return { length: bytes.byteLength, bytes, stream: () => pieces(bytes), dispose: async () => undefined };
}

/** The same without `bytes`, as from a spool file. */
export function streamed(bytes: Uint8Array): StoredBody {
  return { length: bytes.byteLength, stream: () => pieces(bytes), dispose: async () => undefined };
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // no body
}

export interface UpstreamChoices extends Partial<Omit<UpstreamOptions, 'url' | 'accessPoint' | 'times' | 'limits'>> {
  readonly at?: AccessPointName;
  readonly times?: Partial<UpstreamOptions['times']>;
  readonly limits?: Partial<UpstreamOptions['limits']>;
}

export function upstreamTo(url: string, { at = 'phase4', times, limits, ...rest }: UpstreamChoices = {}): Upstream {
  return createUpstream({ url, accessPoint: accessPoint(at), limits: { ...LIMITS, ...limits }, times: { ...TIMES, ...times }, clock: systemClock, ...rest });
}

export async function bodyOf(result: Pick<AttemptResult, 'reply'>): Promise<Buffer> {
  const { body } = result.reply;
  if (body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function headerOf(result: Pick<AttemptResult, 'reply'>, name: string): string | undefined {
  return result.reply.headers.find(([n]) => n.toLowerCase() === name)?.[1];
}
