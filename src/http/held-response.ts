import type { ServerResponse } from 'node:http';

/** What an application answered, before anything of it was sent. */
export interface HeldAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  /** Undefined where it was larger than the bound: then it is on its way already. */
  readonly body: Buffer | undefined;
}

/**
 * Takes a response's place while an application writes to it: nothing leaves before `send`, so that the answer can be in
 * the ledger first (law 2). An answer that outgrows `bound` bytes is let go at once.
 */
export class HeldResponse {
  readonly answered: Promise<HeldAnswer>;
  readonly #response: ServerResponse;
  readonly #write: ServerResponse['write'];
  readonly #end: ServerResponse['end'];
  readonly #bound: number;
  #parts: Buffer[] = [];
  #length = 0;
  #letGo = false;
  #tellAnswered: (answer: HeldAnswer) => void = () => undefined;

  constructor(response: ServerResponse, bound: number) {
    this.#response = response;
    this.#bound = bound;
    this.#write = response.write.bind(response);
    this.#end = response.end.bind(response);
    this.answered = new Promise((resolve) => {
      this.#tellAnswered = resolve;
    });
    const writeHead = response.writeHead.bind(response);
    response.flushHeaders = () => undefined;
    response.writeHead = (status: number, ...rest: unknown[]) => {
      if (this.#letGo) return writeHead(status, ...(rest as []));
      response.statusCode = status;
      for (const [name, value] of headersOf(rest.at(-1))) response.setHeader(name, value);
      return response;
    };
    response.write = ((chunk: unknown, encoding?: unknown, done?: unknown) => this.#take(chunk, encoding, callback(encoding, done))) as ServerResponse['write'];
    response.end = ((chunk?: unknown, encoding?: unknown, done?: unknown) => {
      const called = callback(chunk, encoding, done);
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.#take(chunk, encoding, undefined);
      this.#finish();
      called?.();
      return response;
    }) as ServerResponse['end'];
  }

  /** Sends what was held. */
  send(): void {
    if (this.#letGo) return;
    this.#letGo = true;
    this.#end(Buffer.concat(this.#parts));
  }

  #take(chunk: unknown, encoding: unknown, called: (() => void) | undefined): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8') : Buffer.from(chunk as Uint8Array);
    if (this.#letGo) return this.#write(bytes);
    this.#parts.push(bytes);
    this.#length += bytes.length;
    if (this.#length > this.#bound) {
      this.#letGo = true;
      for (const part of this.#parts) this.#write(part);
      this.#parts = [];
    }
    called?.();
    return true;
  }

  #finish(): void {
    const { statusCode: status } = this.#response;
    const contentType = this.#response.getHeader('content-type');
    const head = { status, contentType: contentType === undefined ? undefined : String(contentType) };
    if (this.#letGo) this.#end();
    this.#tellAnswered({ ...head, body: this.#letGo ? undefined : Buffer.concat(this.#parts) });
  }
}

function callback(...given: unknown[]): (() => void) | undefined {
  return given.find((one): one is () => void => typeof one === 'function');
}

/** Headers as writeHead takes them: an object, or a flat list. */
function headersOf(given: unknown): [string, string | string[]][] {
  if (Array.isArray(given)) {
    return given.flatMap((name: unknown, i) => (i % 2 === 0 ? [[String(name), String(given[i + 1])] as [string, string]] : []));
  }
  return typeof given === 'object' && given !== null ? Object.entries(given as Record<string, string | string[]>) : [];
}
