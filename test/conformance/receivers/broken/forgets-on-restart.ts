import { GoodReceiver } from '../good.js';

/** Keeps its ids in memory (phase4 by default). */
export class ForgetsOnRestart extends GoodReceiver {
  override async restart(): Promise<void> {
    this.store.clear();
    await super.restart();
  }
}
