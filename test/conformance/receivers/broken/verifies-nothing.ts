import { GoodReceiver } from '../good.js';
import type { ReadOptions } from '../incoming.js';

/** Reads the header and believes it. */
export class VerifiesNothing extends GoodReceiver {
  override readOptions(): ReadOptions {
    return { ...super.readOptions(), skipVerification: true };
  }
}
