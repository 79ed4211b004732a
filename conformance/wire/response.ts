/** A complete HTTP/1.1 response as it came on the wire. */
export interface HttpResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Body after transfer coding; content coding still on. */
  readonly body: Buffer;
  /** Whether an interim 100 came first. */
  readonly continued: boolean;
}

const HEAD_MAX = 64 * 1024;

/** The peer sent something that is no HTTP response. */
export class Garbled extends Error {
  override readonly name = 'Garbled';
}

/** Reads one response from chunks as they arrive. Knows lengths, chunked coding and end by close (RFC 9112, 6). */
export class ResponseReader {
  #bytes = Buffer.alloc(0);
  #continued = false;
  #head: { status: number; reason: string; headers: [string, string][]; bodyStart: number } | undefined;
  readonly #bodyMax: number;

  constructor(bodyMax: number) {
    this.#bodyMax = bodyMax;
  }

  /** Bytes received so far, interim answers left out. */
  get size(): number {
    return this.#bytes.length;
  }

  /** True once a 100 Continue was read. */
  get continued(): boolean {
    return this.#continued;
  }

  /** Returns the response when it is complete. Throws Garbled on anything that is not HTTP. */
  push(chunk: Buffer): HttpResponse | undefined {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.#bytes.length > this.#bodyMax + HEAD_MAX)
      throw new Garbled(`an answer longer than ${this.#bodyMax} bytes`);
    while (this.#head === undefined) {
      const head = this.#readHead();
      if (head === undefined) return undefined;
      if (head.status >= 100 && head.status < 200) {
        this.#continued ||= head.status === 100;
        this.#bytes = this.#bytes.subarray(head.bodyStart);
      } else this.#head = head;
    }
    return this.#readBody(false);
  }

  /** The peer closed: a body without a length ends here. */
  end(): HttpResponse | undefined {
    return this.#head === undefined ? undefined : this.#readBody(true);
  }

  #readHead() {
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0) {
      if (this.#bytes.length > HEAD_MAX) throw new Garbled('response headers without an end');
      if (this.#bytes.length >= 5 && !this.#bytes.subarray(0, 5).equals(Buffer.from('HTTP/'))) {
        throw new Garbled(`not HTTP: ${JSON.stringify(this.#bytes.subarray(0, 40).toString('latin1'))}`);
      }
      return undefined;
    }
    const lines = this.#bytes.subarray(0, end).toString('latin1').split('\r\n');
    const status = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(lines[0] ?? '');
    if (status === null) throw new Garbled(`not HTTP: ${JSON.stringify((lines[0] ?? '').slice(0, 60))}`);
    const headers = lines.slice(1).map((line): [string, string] => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Garbled(`a header line without a name: ${JSON.stringify(line.slice(0, 60))}`);
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    return { status: Number(status[1]), reason: status[2] ?? '', headers, bodyStart: end + 4 };
  }

  #readBody(closed: boolean): HttpResponse | undefined {
    const head = this.#head;
    if (head === undefined) return undefined;
    const { status, reason, headers } = head;
    const value = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
    const rest = this.#bytes.subarray(head.bodyStart);
    const done = (body: Buffer): HttpResponse => ({
      status,
      reason,
      headers,
      body: Buffer.from(body),
      continued: this.#continued,
    });
    if (status === 204 || status === 304) return done(Buffer.alloc(0));
    if (/chunked\s*$/i.test(value('transfer-encoding') ?? '')) {
      const body = readChunks(rest);
      return body === undefined ? undefined : done(body);
    }
    const length = value('content-length');
    if (length !== undefined) {
      if (!/^\d+$/.test(length)) throw new Garbled(`Content-Length ${JSON.stringify(length)}`);
      return rest.length >= Number(length) ? done(rest.subarray(0, Number(length))) : undefined;
    }
    return closed ? done(rest) : undefined;
  }
}

function readChunks(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const line = bytes.subarray(at, end).toString('latin1').split(';')[0]?.trim() ?? '';
    if (!/^[0-9a-fA-F]{1,8}$/.test(line)) throw new Garbled(`chunk size ${JSON.stringify(line.slice(0, 20))}`);
    const size = Number.parseInt(line, 16);
    at = end + 2;
    if (size === 0) return bytes.indexOf('\r\n', at) < 0 ? undefined : Buffer.concat(chunks);
    if (bytes.length < at + size + 2) return undefined;
    chunks.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}
