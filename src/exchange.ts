/** What the walk sees of an HTTP request, and what it answers. No Express and no socket in either. */

/** Header fields in the order and spelling they came in. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface Exchange {
  readonly method: string;
  /** Path and query, as the request names them. */
  readonly target: string;
  readonly headers: HeaderList;
  /** Remote address, after `trustProxy` was applied. */
  readonly peer: string;
  /** Address at the other end of the connection itself: a trusted proxy's, where `peer` is whom it speaks for. */
  readonly via?: string;
  /** The body as it comes on the wire (transfer coding removed, content coding kept). Read at most once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Declared length, bytes, if any. */
  readonly length?: number;
}

export interface Reply {
  readonly status: number;
  /** End-to-end fields only; the door adds Content-Length, Date and Connection. */
  readonly headers: HeaderList;
  /** Bytes, or a stream where the reply was too large to be kept. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** First value of a field, names compared without case. */
export function header(headers: HeaderList, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return headers.find(([n]) => n.toLowerCase() === wanted)?.[1];
}

/** A text answer; for whoever speaks no protocol of ours, and for faults that no sender may read as a verdict. */
export function plain(status: number, text: string, headers: HeaderList = []): Reply {
  return { status, headers: [['Content-Type', 'text/plain; charset=utf-8'], ...headers], body: Buffer.from(text) };
}
