import { As4OnceError } from '../../errors.js';
import type { DuplicateKey } from '../record.js';

/**
 * Names in Redis. `{bb}` are the first two hexadecimal digits of the key: a hash tag, so that a record, its small index
 * and its counter share a slot of a cluster, and 256 of them spread over it.
 *
 *   <prefix>{bb}:<key>   a record           <prefix>{bb}:idx   small index     <prefix>{bb}:n   settles
 *   <prefix>{meta}:ledger   the ledger's facts   <prefix>{meta}:notes:<shelf>   notes   <prefix>wake   channel of the wake-ups
 */
export interface Place {
  readonly record: string;
  readonly index: string;
  readonly settles: string;
  readonly bucket: string;
}

const FORM = /^[0-9a-f]{2}[\w-]*:[\w-]*$/;

export const BUCKETS: readonly string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));

export class Keys {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  of(key: DuplicateKey): Place {
    if (!FORM.test(key) || key.length > 300) throw new As4OnceError('INTERNAL', `no DuplicateKey: ${JSON.stringify(key.slice(0, 80))}`);
    const bucket = key.slice(0, 2);
    return { record: `${this.prefix}{${bucket}}:${key}`, index: this.index(bucket), settles: this.settles(bucket), bucket };
  }

  index(bucket: string): string {
    return `${this.prefix}{${bucket}}:idx`;
  }

  settles(bucket: string): string {
    return `${this.prefix}{${bucket}}:n`;
  }

  /** A hash: id, created, format, accepted. */
  get facts(): string {
    return `${this.prefix}{meta}:ledger`;
  }

  shelf(name: string): string {
    return `${this.prefix}{meta}:notes:${name}`;
  }

  get channel(): string {
    return `${this.prefix}wake`;
  }

  /** SCAN pattern of records: all of them, or those of one reference. `before` is what the client puts before keys. */
  pattern(before: string, reference?: string): string {
    const literal = (text: string): string => text.replaceAll(/[\\*?[\]]/g, String.raw`\$&`);
    const tail = reference === undefined ? '{??}:*:*' : `{${reference.slice(0, 2)}}:${literal(reference)}:*`;
    return literal(before + this.prefix) + tail;
  }

  /** The DuplicateKey in the name of a record, as SCAN returns it; undefined for any other name. */
  keyIn(name: string, before: string): DuplicateKey | undefined {
    const start = before + this.prefix;
    const key = name.slice(start.length + '{bb}:'.length);
    return name.startsWith(`${start}{${key.slice(0, 2)}}:`) && FORM.test(key) ? key : undefined;
  }
}
