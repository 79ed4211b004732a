import { GoodReceiver } from '../good.js';
import { parameterOf, splitMultipart } from '../../../../conformance/as4/multipart.js';
import type { Incoming } from '../incoming.js';

function splitMultipartSafely(body: Buffer, contentType: string): Buffer[] {
  const boundary = parameterOf(contentType, 'boundary');
  return boundary === undefined ? [] : splitMultipart(body, boundary).map(({ bytes }) => bytes);
}

/** Delivers every MIME part, listed or not. */
export class DeliversUnlistedParts extends GoodReceiver {
  override read(body: Buffer, contentType: string): Incoming {
    const incoming = super.read(body, contentType);
    const extra = splitMultipartSafely(body, contentType).filter(
      (bytes) => bytes.subarray(0, 8).toString() === 'unlisted',
    );
    return {
      ...incoming,
      payloads: [...incoming.payloads, ...extra.map((content) => ({ mimeType: 'text/plain', content }))],
    };
  }
}
