import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { tokensIn } from './counter.js';
import type { BackendControl, DeliveryCounter } from './counter.js';

export interface SinkOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Status of an accepted delivery. */
  readonly accept: number;
  /** Status of a refused delivery. */
  readonly refuse: number;
}

/** Bytes of one delivery that are searched for its token; the rest is read and thrown away. */
const HEAD_BYTES = 1024 * 1024;

/** The suite as the backend: an HTTP server to which the target delivers, and which can refuse or be slow. */
export class HttpSink implements DeliveryCounter {
  readonly #counts = new Map<string, number>();
  readonly #options: SinkOptions;
  readonly #server = createServer((request, response) => void this.#take(request, response));
  #mode: 'normal' | 'fail' = 'normal';
  #delayMs = 0;

  private constructor(options: SinkOptions) {
    this.#options = options;
  }

  static async open(options: SinkOptions): Promise<HttpSink> {
    const sink = new HttpSink(options);
    await new Promise<void>((resolve, reject) => {
      sink.#server.once('error', reject);
      sink.#server.listen(options.port, options.host, resolve);
    });
    return sink;
  }

  get url(): URL {
    const { address, port } = this.#server.address() as AddressInfo;
    return new URL(`http://${address.includes(':') ? `[${address}]` : address}:${port}/`);
  }

  get place(): string {
    return `HTTP endpoint ${this.url.href}`;
  }

  readonly backend: BackendControl = {
    fail: () => {
      this.#mode = 'fail';
    },
    slow: (ms) => {
      this.#delayMs = ms;
    },
    normal: () => {
      this.#mode = 'normal';
      this.#delayMs = 0;
    },
  };

  async count(token: string): Promise<number> {
    return this.#counts.get(token) ?? 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    let kept = 0;
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        if (kept < HEAD_BYTES) chunks.push(chunk);
        kept += chunk.length;
      }
    } catch {
      return;
    }
    const mode = this.#mode;
    if (this.#delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#delayMs));
    if (mode === 'fail') {
      response.writeHead(this.#options.refuse, { 'content-type': 'text/plain' }).end('refused on purpose\n');
      return;
    }
    for (const token of tokensIn(plain(Buffer.concat(chunks))))
      this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
    response.writeHead(this.#options.accept).end();
  }
}

function plain(body: Buffer): Buffer {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return gunzipSync(body, { finishFlush: 2, maxOutputLength: 64 * HEAD_BYTES });
  } catch {
    return body;
  }
}
