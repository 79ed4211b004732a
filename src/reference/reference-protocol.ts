import { createHash } from 'node:crypto';
import { decodedReading } from '../edi/decoded-body.js';
import { fingerprintOf } from '../edi/message-of.js';
import { As4OnceError } from '../errors.js';
import type { Limits } from '../limits.js';
import type { Facts, Message } from '../message.js';
import type { Protocol, Read } from '../protocol.js';
import { fromHead, needsBody, type Extraction } from './extraction.js';
import { JsonValues, MalformedBody } from './json-values.js';
import { XmlValues } from './xml-values.js';

/** Where a request of any protocol says what it is: the (External Reference, Type) pair, and who speaks to whom. */
export interface ReferenceRule {
  readonly reference: Extraction;
  /** Absent: the reference alone identifies. Given: a request without it has no reference. */
  readonly type?: Extraction;
  readonly from?: Extraction;
  readonly to?: Extraction;
  /** A request in which no reference is found: goes on unrecorded, or is refused (REFERENCE_MISSING). Default forward. */
  readonly noReference?: 'forward' | 'refuse';
}

type Name = 'reference' | 'type' | 'from' | 'to';
const NAMES: readonly Name[] = ['reference', 'type', 'from', 'to'];

interface BodyValues {
  push(bytes: Uint8Array): void;
  end(): (where: string) => string | undefined;
}

/** Any HTTP message with a stable reference: AS2 gateways, webhooks, APIs with an Idempotency-Key. */
export function referenceProtocol(rule: ReferenceRule): Protocol {
  const extractions = NAMES.flatMap((name) => (rule[name] === undefined ? [] : [[name, rule[name]] as const]));
  const pointers = extractions.flatMap(([, { pointer }]) => pointer ?? []);
  const paths = extractions.flatMap(([, { path }]) => path ?? []);
  if (pointers.length > 0 && paths.length > 0) {
    throw new As4OnceError('CONFIG_INVALID', 'a body cannot be both JSON (pointer) and XML (path)');
  }
  return {
    name: 'reference',
    open: ({ headers, target }, limits) => {
      const values = new Map<Name, string | undefined>(extractions.map(([name, extraction]) => [name, fromHead(extraction, headers, target)]));
      const body = pointers.length > 0 ? new JsonValues(pointers, limits.depth) : paths.length > 0 ? new XmlValues(paths, limits.depth) : undefined;
      const content = new Content(body, rule.noReference !== 'refuse');
      const end = (): Read => {
        const at = content.end();
        for (const [name, extraction] of extractions) {
          if (needsBody(extraction)) values.set(name, at(extraction.pointer ?? extraction.path ?? ''));
        }
        return readOf(rule, values, content.sha256(), limits);
      };
      return decodedReading(headers, limits, 'reference', { push: (bytes) => content.push(bytes), end });
    },
  };
}

/** Hashes the body and reads along; a body that is not what the rule takes it for has no reference. */
class Content {
  readonly #hash = createHash('sha256');
  readonly #tolerant: boolean;
  #values: BodyValues | undefined;

  constructor(values: BodyValues | undefined, tolerant: boolean) {
    this.#values = values;
    this.#tolerant = tolerant;
  }

  push(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#try(() => this.#values?.push(bytes));
  }

  end(): (where: string) => string | undefined {
    let found: ((where: string) => string | undefined) | undefined;
    this.#try(() => {
      found = this.#values?.end();
    });
    return found ?? (() => undefined);
  }

  sha256(): string {
    return this.#hash.digest('hex');
  }

  #try(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof MalformedBody) || !this.#tolerant) throw error;
      this.#values = undefined;
    }
  }
}

function readOf(rule: ReferenceRule, values: ReadonlyMap<Name, string | undefined>, sha256: string, limits: Limits): Read {
  const missing = (['reference', 'type'] as const).filter((name) => rule[name] !== undefined && values.get(name) === undefined);
  if (missing.length > 0) {
    if (rule.noReference === 'refuse') throw new As4OnceError('REFERENCE_MISSING', `no ${missing.join(' and no ')} found`);
    return { kind: 'pass' };
  }
  const bounded = (name: Name, bound: number): string | undefined => {
    const value = values.get(name);
    if (value !== undefined && Buffer.byteLength(value) > bound) {
      throw new As4OnceError('REFERENCE_MISSING', `the ${name} is longer than ${bound} bytes`);
    }
    return value;
  };
  const type = bounded('type', limits.messageId);
  const party = (name: 'from' | 'to'): Facts['from'] => {
    const value = bounded(name, limits.partyId);
    return value === undefined ? [] : [{ value }];
  };
  const message: Message = {
    protocol: 'reference',
    reference: bounded('reference', limits.messageId) ?? '',
    ...(type === undefined ? {} : { type }),
    facts: { from: party('from'), to: party('to'), ...(type === undefined ? {} : { action: type }) },
    fingerprint: fingerprintOf(sha256),
    signed: false,
  };
  return { kind: 'message', message, bundled: false };
}

