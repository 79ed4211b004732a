import { GoodReceiver } from '../good.js';
import type { ReadOptions } from '../incoming.js';

/** Lets a DOCTYPE pass. */
export class AcceptsDoctypes extends GoodReceiver {
  override readOptions(): ReadOptions {
    return {
      ...super.readOptions(),
      before: (body) => Buffer.from(body.toString('latin1').replace(/<!DOCTYPE [^\]]*\]>/, ''), 'latin1'),
    };
  }
}
