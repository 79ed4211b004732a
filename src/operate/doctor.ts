import { statfsSync } from 'node:fs';
import type { OwnCertificate } from '../admin/certificates.js';
import { As4OnceError } from '../errors.js';
import type { Ledger } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import { formatDuration } from '../policy/duration.js';
import { formatSize } from '../policy/size.js';
import { openReply } from '../receipt/stored-reply.js';
import { judgeStored } from './judged-reply.js';
import { judge, type Seen } from './sentinel.js';
import type { Status } from './status.js';

/** One finding. `fail`: messages are or will be answered wrongly or not at all; `warn`: somebody should know. */
export interface Finding {
  readonly what: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly text: string;
}

const DAY = 86_400_000;
/** Leases and windows run on the ledger's clock; log lines and late copies on this one, ms. */
const SKEW = { warn: 2_000, fail: 60_000 };
/** Settles need room when new claims are refused already. */
const ROOM = { warn: 1024 ** 3, fail: 64 * 1024 ** 2 };
/** Stored Receipts that are verified, and records looked at for them. */
const SAMPLE = { receipts: 20, records: 5_000 };

const finding = (what: string, level: Finding['level'], text: string): Finding => ({ what, level, text });

export function storeFindings(
  warnings: readonly { readonly code: string; readonly text: string }[],
): readonly Finding[] {
  return warnings.length === 0
    ? [finding('store', 'ok', 'nothing in its settings endangers the guarantee')]
    : warnings.map(({ code, text }) => finding('store', 'warn', `${code} ${text}`));
}

/** A master without a replica is nobody's mistake, but whoever asks the doctor should hear of it. */
export function replicaFindings(replicas: readonly (number | undefined)[]): readonly Finding[] {
  if (replicas.length === 0) return [];
  const known = replicas.filter((count) => count !== undefined);
  if (known.length < replicas.length) return [finding('replicas', 'warn', 'INFO is not allowed to our user, so nobody sees them')];
  const least = Math.min(...known);
  const masters = replicas.length === 1 ? 'the server' : `each of ${replicas.length} masters`;
  const text = least === 0
    ? `none is connected${replicas.length === 1 ? '' : ' to one of the masters'}: what that server loses is lost`
    : `${masters} has at least ${least}; a claim waits for as many as ledger.redis.waitReplicas says`;
  return [finding('replicas', 'ok', text)];
}

const tenths = (ms: number): string => formatDuration(Math.round(Math.abs(ms) / 100) * 100);

/** This clock was read right before and after asking; the round trip is not skew. */
export function skewFinding(ledgerNow: number, before: number, after: number): Finding {
  const skew = ledgerNow < before ? ledgerNow - before : Math.max(0, ledgerNow - after);
  const level = Math.abs(skew) >= SKEW.fail ? 'fail' : Math.abs(skew) >= SKEW.warn ? 'warn' : 'ok';
  const text =
    level === 'ok'
      ? "this clock and the ledger's agree"
      : `the ledger's clock is ${tenths(skew)} ${skew > 0 ? 'ahead of' : 'behind'} this one`;
  return finding('clock', level, text);
}

export function timeFindings(seen: ReadonlyMap<string, Seen>, status: Status, now: number): readonly Finding[] {
  const behind = [...seen].flatMap(([node, one]) => {
    const found = judge(one, status.ledger.meta, now).behind;
    return found === undefined
      ? []
      : [finding('ledger', 'fail', `went back in time, says ${node}: ${found.reason}; see as4-once ledger status`)];
  });
  return behind.length > 0
    ? behind
    : [
        finding(
          'ledger',
          'ok',
          `${status.ledger.engine} ${status.ledger.meta.id} has forgotten nothing that was seen here`,
        ),
      ];
}

export function serverFindings({ ledger, nodes }: Status): readonly Finding[] {
  const up = nodes.filter(({ silent }) => !silent);
  const other = up.filter(({ sameConfig }) => !sameConfig);
  return [
    up.length === 0
      ? finding('servers', 'warn', 'none has written a report within a minute')
      : finding('servers', 'ok', `${up.length} running: ${[...new Set(up.map(({ node }) => node))].join(', ')}`),
    ...nodes
      .filter(({ silent }) => silent)
      .map(({ node, pid }) => finding('servers', 'warn', `${node} (pid ${pid}) is silent and did not end orderly`)),
    ...other.map(({ node, pid }) =>
      finding(
        'servers',
        'warn',
        `${node} (pid ${pid}) runs with another configuration than this file: reload it (SIGHUP)`,
      ),
    ),
    ...(ledger.held > 0
      ? [finding('messages', 'warn', `${ledger.held} held: as4-once list --held`)]
      : [finding('messages', 'ok', 'none is held')]),
  ];
}

export function certificateFindings(certificates: readonly OwnCertificate[], now: number): readonly Finding[] {
  if (certificates.length === 0) return [finding('certificates', 'ok', 'the configuration names none of ours')];
  return certificates.map(({ use, subject, notAfter }) => {
    const left = notAfter - now;
    const level = left <= 0 ? 'fail' : left < 14 * DAY ? 'warn' : 'ok';
    const when = new Date(notAfter).toISOString().slice(0, 10);
    return finding('certificates', level, `${use}: ${subject} ${left <= 0 ? 'ended' : 'ends'} ${when}`);
  });
}

/** Room on the disks where something of ours lies; each disk once. */
export function diskFindings(folders: readonly (readonly [what: string, path: string])[]): readonly Finding[] {
  return folders.map(([what, path]) => {
    try {
      const { bavail, bsize } = statfsSync(path);
      const free = bavail * bsize;
      return finding(
        'disk',
        free < ROOM.fail ? 'fail' : free < ROOM.warn ? 'warn' : 'ok',
        `${what}: ${formatSize(free)} free`,
      );
    } catch (error) {
      return finding(
        'disk',
        'warn',
        `${what}: ${path} cannot be looked at (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
      );
    }
  });
}

/** Opens stored replies and has the independent implementation verify the Receipts among them. */
export async function receiptFindings(ledger: Pick<Ledger, 'iterate'>): Promise<readonly Finding[]> {
  let [looked, verified, unsigned] = [0, 0, 0];
  const found: Finding[] = [];
  for await (const { record } of ledger.iterate()) {
    looked += 1;
    if (looked > SAMPLE.records || verified + unsigned + found.length >= SAMPLE.receipts) break;
    const judged = judged1(record);
    if (judged === 'verified') verified += 1;
    else if (judged === 'unsigned') unsigned += 1;
    else if (judged !== undefined) found.push(judged);
  }
  const all = verified + unsigned + found.length;
  const text =
    verified + unsigned === 0
      ? 'no stored reply to verify'
      : `${verified} of ${all} stored replies looked at verify${unsigned === 0 ? '' : `, ${unsigned} are not signed`}`;
  return [finding('receipts', 'ok', text), ...found];
}

function judged1({ reply, key }: LedgerRecord): 'verified' | 'unsigned' | Finding | undefined {
  if (reply === undefined) return undefined;
  let body: Uint8Array;
  try {
    body = openReply(reply);
  } catch (error) {
    return finding('receipts', 'fail', `${key}: ${error instanceof As4OnceError ? error.detail : String(error)}`);
  }
  if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes('http://www.w3.org/2000/09/xmldsig#'))
    return 'unsigned';
  const { ok, reason } = judgeStored(reply.contentType, body);
  return ok ? 'verified' : finding('receipts', 'warn', `${key}: ${reason}`);
}
