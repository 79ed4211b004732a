import { GunzipFeed, isGzipCoded } from '../ebms/content-coding.js';
import { header, type HeaderList } from '../exchange.js';
import type { Limits } from '../limits.js';
import type { Read, Reading } from '../protocol.js';

/** What reads the plain bytes of a body. Both throw As4OnceError to refuse. */
export interface BodyReader {
  readonly push: (bytes: Uint8Array) => void;
  readonly end: () => Read;
}

/** A reading of the plain body, `Content-Encoding: gzip` undone. What names the message is known at its end only. */
export function decodedReading(headers: HeaderList, limits: Limits, protocol: string, reader: BodyReader): Reading {
  const gunzip = isGzipCoded(header(headers, 'content-encoding')) ? new GunzipFeed(reader.push, limits.maxBody) : undefined;
  return {
    push: (chunk) => (gunzip === undefined ? reader.push(chunk) : gunzip.push(chunk)),
    early: undefined,
    end: async () => {
      await gunzip?.end();
      return reader.end();
    },
    answerIn: { protocol },
  };
}
