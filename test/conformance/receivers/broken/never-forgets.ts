import { GoodReceiver } from '../good.js';

/** Keeps ids for ever, although it claims to deliver after the window. */
export class NeverForgets extends GoodReceiver {
  override readonly window: number = Number.MAX_SAFE_INTEGER;
}
