import { GoodReceiver } from '../good.js';

/** Processes a request whose last two bytes never came (phase4). */
export class ProcessesCutRequests extends GoodReceiver {
  override broken(soFar: Buffer, contentType: string): void {
    if (soFar.subarray(-2).toString('latin1') === '--')
      void this.answer(Buffer.concat([soFar, Buffer.from('\r\n')]), contentType);
  }
}
