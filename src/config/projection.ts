import { encodeRecord } from '../ledger/codec.js';
import type { LedgerRecord } from '../ledger/record.js';
import type { Config } from './config.js';

/** How many messages, and in how many ms. */
export interface Rate {
  readonly messages: number;
  readonly per: number;
}

const PER: Readonly<Record<string, number>> = {
  s: 1_000, sec: 1_000, second: 1_000, min: 60_000, minute: 60_000,
  h: 3_600_000, hour: 3_600_000, d: 86_400_000, day: 86_400_000,
};

/** Reads `100000/day`, `5000/h`, `2/s`; undefined for anything else. */
export function parseRate(text: string): Rate | undefined {
  const match = /^(\d{1,12}) ?\/ ?([a-z]+)$/.exec(text.trim().replaceAll(/[,_']/g, ''));
  const per = match?.[2] !== undefined && Object.hasOwn(PER, match[2]) ? PER[match[2]] : undefined;
  return match === null || per === undefined ? undefined : { messages: Number(match[1]), per };
}

/** What the ledger will hold when its windows are full, if every message came under the defaults of its route. */
export interface Projection {
  readonly records: number;
  readonly bytesPerRecord: number;
  readonly bytes: number;
}

/**
 * Bytes are an estimate: a typical record in the engine's own format (Peppol parties, one attempt, a Receipt of 7 KB
 * that is 2.9 KB compressed), and what the engine adds to it. The longest window of the file's defaults counts.
 */
export function project(config: Config, rate: Rate): Projection {
  const rules = [...config.routes, ...config.watch].map((route) => route.rules.defaults);
  const kept = Math.max(...rules.map(({ window, late }) => window + late));
  const records = Math.ceil((rate.messages / rate.per) * kept);
  const bytesPerRecord = perRecord(config.ledger.kind, encodeRecord(typicalRecord(2_889)).length);
  return { records, bytesPerRecord, bytes: records * bytesPerRecord };
}

const PAGE = 4_096;

/** Measured on both engines with 20,000 records of 4.6 KB and of 2.3 KB: within 2 %. */
function perRecord(engine: Config['ledger']['kind'], encoded: number): number {
  // LMDB keeps a value of more than about half a page in pages of its own; keys and expiry stand in half-full leaves.
  if (engine === 'embedded') return encoded > 2_000 ? Math.ceil((encoded + 16) / PAGE) * PAGE + 700 : encoded * 2 + 500;
  // Redis: the allocator's size classes, the key, its entry and its expiry.
  return Math.round(encoded * 1.1) + 300;
}

/** A settled Peppol message as it lies in the ledger; `replyBytes` of it are its compressed Receipt. */
export function typicalRecord(replyBytes: number): LedgerRecord {
  const token = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const digest = '0'.repeat(64);
  const fingerprint = `signed:${digest}`;
  const type = 'urn:fdc:peppol.eu:2017:identifiers:ap';
  const [from, to] = [{ value: 'POP000123', type }, { value: 'POP000456', type }];
  const now = 1_800_000_000_000;
  return {
    format: 1, version: 2, key: `${digest}:${'0'.repeat(43)}`, protocol: 'as4', scope: 'default',
    reference: `${token}@as4.example.org`, rule: 'defaults', state: 'settled', born: now, window: 1, late: 0,
    sender: JSON.stringify([from]), fingerprint,
    facts: {
      from: [from], to: [to],
      c1: '0088:7300010000001', c4: '0088:7300010000002',
      service: 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0', serviceType: 'cenbii-procid-ubl',
      action: 'busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##'
        + 'urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1',
      conversationId: token, agreement: 'urn:fdc:peppol.eu:2017:agreements:tia:ap_provider', timestamp: now,
    },
    token,
    attempts: [{
      token, fingerprint, began: now, node: 'gateway-1', ended: now, outcome: 'accepted', reason: 'receipt',
    }],
    rejections: 0, copies: 0, lastSeen: now,
    reply: {
      status: 200, contentType: 'application/soap+xml;charset=UTF-8',
      deflated: new Uint8Array(replyBytes), length: 6_924, sha256: digest,
      receiptId: `${token}@phase4`, signerSerial: digest.slice(32),
    },
  };
}
