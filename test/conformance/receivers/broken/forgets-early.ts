import { GoodReceiver } from '../good.js';

/** Keeps an id for half of the window it claims. */
export class ForgetsEarly extends GoodReceiver {
  override readonly window: number = 30_000;
}
