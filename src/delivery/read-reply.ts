import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type InputType, type ZlibOptions } from 'node:zlib';
import { header, type HeaderList } from '../exchange.js';

/** A reply body, read to its bound. */
export type ReadReply =
  /** Whole. `decoded`: a content coding was taken off. `coded`: one is left that could not be. */
  | { readonly kind: 'whole'; readonly body: Uint8Array; readonly decoded: boolean; readonly coded: boolean }
  /** Longer than the bound, on the wire or decoded: all of it as it came, to be passed on. */
  | { readonly kind: 'tooLarge'; readonly begin: Uint8Array; readonly all: AsyncIterable<Uint8Array> };

/** Reads a reply of at most `max` bytes and takes its content coding off, once. Rejects when the connection breaks. */
export async function readReply(headers: HeaderList, stream: Readable, max: number): Promise<ReadReply> {
  const rest = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) break;
    chunks.push(next.value);
    length += next.value.byteLength;
    if (length > max) return { kind: 'tooLarge', begin: Buffer.concat(chunks), all: resumed(chunks, rest) };
  }
  const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
  const coding = header(headers, 'content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity' || length === 0) return { kind: 'whole', body, decoded: false, coded: false };
  return await decode(coding, body, max);
}

type Decode = (input: InputType, options: ZlibOptions) => Promise<Buffer>;
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  // RFC 9110 8.4.1.2 says zlib format; some servers send raw DEFLATE under that name
  deflate: async (input, options) => {
    try {
      return await promisify<InputType, ZlibOptions, Buffer>(inflate)(input, options);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'Z_DATA_ERROR') throw error;
      return await promisify<InputType, ZlibOptions, Buffer>(inflateRaw)(input, options);
    }
  },
  br: promisify(brotliDecompress) as Decode,
};

async function decode(coding: string, body: Uint8Array, max: number): Promise<ReadReply> {
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decoder === undefined) return { kind: 'whole', body, decoded: false, coded: true };
  try {
    return { kind: 'whole', body: await decoder(body, { maxOutputLength: max }), decoded: true, coded: false };
  } catch (error) {
    const bomb = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return bomb ? { kind: 'tooLarge', begin: body, all: resumed([body]) } : { kind: 'whole', body, decoded: false, coded: true };
  }
}

/** What was read already and then the rest, once; ends the upstream's stream when the reader goes away. */
async function* resumed(begin: readonly Uint8Array[], rest?: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* begin;
    for (;;) {
      const next = await rest?.next();
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    await rest?.return?.();
  }
}
